// One table of keys: their actions, and the list that F1 shows. Keys follow labelme and CVAT.
export function bind(page) {
  const table = [
    [['a', 'ArrowLeft'], 'A', 'previous image', () => page.step(-1)],
    [['d', 'f', 'ArrowRight'], 'D, F', 'next image', () => page.step(1)],
    [['Enter'], 'Enter', 'accept the labels, or the suggestion, and go on', () => page.accept()],
    [['u'], 'U', 'take the acceptance back: of this image, or of the one accepted last, which opens', () => page.takeBack()],
    [['w'], 'W', 'stroke or click on the object', () => page.use('foreground')],
    [['g'], 'G, right button', 'stroke or click on the background', () => page.use('background')],
    [['b'], 'B', 'box around an object; the corners of the selected object\'s box resize it, its sides move it', () => page.use('box')],
    [['e'], 'E', 'eraser of strokes', () => page.use('erase')],
    [['s'], 'S, Shift+click', 'select an object by a click; with Shift, the object that is clicked becomes one with the selected one; drag a selected box to move it, or its corners', () => page.use('select')],
    [['x'], 'X', 'split an object by a stroke across it', () => page.use('split')],
    [['c'], 'C', 'draw by keys: arrows move a cross (Shift: by one pixel), space sets a point, two corners of a box or two ends of a split, or takes up a corner of the selected box; Esc ends', () => page.cross.toggle()],
    [['n'], 'N', 'another object', () => page.newObject()],
    [['Delete', 'Backspace'], 'Delete', 'delete the object', () => page.deleteObject()],
    [['1', '2', '3', '4', '5', '6', '7', '8', '9'], '1 .. 9', 'choose the label', key => page.chooseLabel(Number(key))],
    [[], 'Shift+1 .. 9', 'give the selected object another label', null],
    [['F2'], 'F2', 'rename the label', () => page.rename(page.label)],
    [['/'], '/', 'filter of the list of images', () => page.findImage()],
    [['['], '[', 'smaller brush', () => page.setBrush(page.brush / 1.3)],
    [[']'], ']', 'larger brush', () => page.setBrush(page.brush * 1.3)],
    [['v'], 'V', 'outline, tint or mask', () => page.nextView()],
    [['+', '='], '+, wheel, pinch', 'zoom in', () => page.zoom(1.25)],
    [['-'], '-', 'zoom out', () => page.zoom(0.8)],
    [['0'], '0', 'whole image', () => page.fit()],
    [[' '], 'hold space', 'move the image', () => { page.holdsSpace = true; }],
    [['m'], 'M', 'as the model sees it', () => page.suggest()],
    [['k'], 'K', 'propagate the labels to the next image of a numbered folder, which opens; undo takes them back', () => page.propagate()],
    [['t'], 'T', 'train', () => page.train()],
    [['p'], 'P', 'side panel', () => page.togglePanel()],
    [['Escape'], 'Esc', 'drop a suggestion', () => page.dropSuggestion()],
    [['?', 'F1'], 'F1, ?', 'this list', () => page.showKeys()],
  ];
  const withCtrl = [
    ['z', false, 'Ctrl+Z', 'undo', () => page.undo()],
    ['z', true, 'Ctrl+Shift+Z', 'redo', () => page.redo()],
    ['y', false, 'Ctrl+Y', 'redo', () => page.redo()],
    ['s', false, 'Ctrl+S', 'everything is saved at every stroke; this says so', () => page.showSaved()],
  ];
  const list = document.getElementById('key-list');
  for (const row of [...table, ...withCtrl]) {
    const dt = document.createElement('dt'), dd = document.createElement('dd');
    dt.textContent = row.length === 4 ? row[1] : row[2];
    dd.textContent = row.length === 4 ? row[2] : row[3];
    const pair = document.createElement('div');
    pair.append(dt, dd);
    list.append(pair);
  }
  addEventListener('keydown', event => {
    const keys = document.getElementById('keys');
    if (keys.open) {
      if (event.key === 'F1' || event.key === '?') { event.preventDefault(); keys.close(); }
      return;
    }
    if (event.target.matches?.('input:not([type=range]), select')) return;
    if (event.target.matches?.('button') && (event.key === 'Enter' || event.key === ' ')) {
      if (event.repeat) event.preventDefault(); // a key that is held presses it once
      return;
    }
    if (event.target.matches?.('input') && event.key.startsWith('Arrow')) return; // arrows set the brush
    if (event.repeat && event.key === 'Enter') return; // a key that is held accepts one image
    if (!event.ctrlKey && !event.metaKey && !event.altKey && page.cross.press(event.key, event.shiftKey)) { event.preventDefault(); return; }
    // By the position of the key, because with Shift digit keys give other signs. On keyboards whose digits need Shift, these choose the label.
    const digit = event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey && /^Digit[1-9]$/.test(event.code) && !/^[0-9]$/.test(event.key);
    if (digit) { event.preventDefault(); page.relabel(Number(event.code.at(-1))); return; }
    const run = event.ctrlKey || event.metaKey
      ? withCtrl.find(row => row[0] === event.key.toLowerCase() && row[1] === event.shiftKey)?.[4]
      : event.altKey ? null : table.find(row => row[0].includes(event.key.length === 1 ? event.key.toLowerCase() : event.key))?.[3];
    if (!run) return;
    event.preventDefault();
    run(event.key);
  });
  addEventListener('keyup', event => { if (event.key === ' ') page.holdsSpace = false; });
}
