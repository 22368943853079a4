// Converts pointer events to strokes: one pointer draws, two zoom and move, the wheel zooms, the right button is background.
export function listen(canvas, page) {
  const element = canvas.element, pointers = new Map();
  let draft = null, pans = false, pinch = null;

  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, d: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) };
  };
  const abandon = () => { draft = null; canvas.draft = null; canvas.draw(); };
  const reachOf = event => (event.pointerType === 'touch' ? 22 : 9);
  const edits = () => page.tool === 'box' || page.tool === 'select';

  // Moves a corner of the selected object's box, or the whole box, to the pointer, within the image.
  const moveFrame = (x, y) => {
    const [x0, y0, x1, y1] = draft.frame, { width, height } = canvas.image, within = (v, least, most) => Math.min(most, Math.max(least, v));
    const dx = x - draft.from[0], dy = y - draft.from[1];
    draft.isMoved ||= Math.hypot(dx, dy) * canvas.scale >= 3;
    if (draft.corner === undefined) {
      const bx = within(dx, -x0, width - x1), by = within(dy, -y0, height - y1);
      draft.points = [x0 + bx, y0 + by, x1 + bx, y1 + by];
    } else {
      const corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]], [cx, cy] = corners[draft.corner];
      draft.points = [...corners[(draft.corner + 2) % 4], within(cx + dx, 0, width), within(cy + dy, 0, height)];
    }
  };
  const showCursor = event => {
    const grip = edits() && !event.buttons ? canvas.grip(...canvas.place(event), reachOf(event)) : null;
    element.style.cursor = !grip ? '' : grip.corner === undefined ? 'move' : grip.corner % 2 ? 'nesw-resize' : 'nwse-resize';
  };

  element.addEventListener('contextmenu', event => event.preventDefault());
  element.addEventListener('pointerdown', event => {
    element.focus({ preventScroll: true });
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    if (pointers.size === 2) { abandon(); pinch = spread(); return; }
    if (pointers.size > 2) return;
    pans = event.button === 1 || page.tool === 'pan' || page.holdsSpace;
    const seen = page.seen(); // the stroke belongs to this image, whatever is shown when it ends
    if (pans || !seen) return;
    const kind = event.button === 2 && page.tool === 'foreground' ? 'background' : page.tool, [x, y] = canvas.place(event);
    const grip = edits() && event.button === 0 && !event.shiftKey ? canvas.grip(x, y, reachOf(event)) : null;
    if (grip) {
      draft = { kind: 'box', object: canvas.frame.object, points: canvas.frame.box, frame: canvas.frame.box, from: [x, y], corner: grip.corner, radius: 0, seen };
      canvas.draft = draft;
      return;
    }
    if (kind === 'select' || event.shiftKey) { page.pick(x, y, event.shiftKey); return; }
    draft = { kind, seen, points: kind === 'box' ? [x, y, x, y] : [x, y], radius: kind === 'box' || kind === 'split' ? 0 : page.brush / canvas.scale };
    canvas.draft = draft;
    canvas.draw();
  });
  element.addEventListener('pointermove', event => {
    const before = pointers.get(event.pointerId);
    if (!before) { showCursor(event); return; }
    pointers.set(event.pointerId, event);
    if (pinch && pointers.size >= 2) {
      const now = spread(), box = element.getBoundingClientRect();
      canvas.move(now.x - pinch.x, now.y - pinch.y);
      if (pinch.d > 0) canvas.zoom(now.d / pinch.d, now.x - box.left, now.y - box.top);
      pinch = now;
      page.showZoom();
      return;
    }
    if (pans) { canvas.move(event.clientX - before.clientX, event.clientY - before.clientY); return; }
    if (draft && canvas.draft !== draft) draft = null; // another image is loading
    if (!draft) return;
    if (draft.frame) { moveFrame(...canvas.place(event)); canvas.draw(); return; }
    for (const part of event.getCoalescedEvents?.().length ? event.getCoalescedEvents() : [event]) {
      const [x, y] = canvas.place(part), n = draft.points.length;
      if (draft.kind === 'box') draft.points.splice(2, 2, x, y);
      else if (Math.hypot(x - draft.points[n - 2], y - draft.points[n - 1]) * canvas.scale >= 2 && n < 8000) draft.points.push(x, y);
    }
    canvas.draw();
  });
  const end = event => {
    pointers.delete(event.pointerId);
    if (pointers.size < 2) pinch = null;
    if (pointers.size === 0) pans = false;
    if (!draft) return;
    const done = draft;
    abandon();
    if (event.type === 'pointercancel') return;
    if (done.frame && !done.isMoved) {
      if (page.tool === 'select') page.pick(...done.from, false);
      return;
    }
    const [x0, y0, x1, y1] = done.points;
    if (!canvas.isOnImage(done.kind, done.points)) return;
    if (done.kind === 'box' && (Math.abs(x1 - x0) < 2 || Math.abs(y1 - y0) < 2)) return;
    page.draw(done);
  };
  element.addEventListener('pointerup', end);
  element.addEventListener('pointercancel', end);
  element.addEventListener('wheel', event => {
    event.preventDefault();
    const box = element.getBoundingClientRect();
    canvas.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
    page.showZoom();
  }, { passive: false });
}

// Draws by keys: arrows move a cross in the image, and space sets points or corners of boxes at the cross.
export class Cross {
  constructor(canvas, page) { this.canvas = canvas; this.page = page; }

  toggle() {
    const canvas = this.canvas, box = canvas.element.getBoundingClientRect();
    if (canvas.cross) { this.end(); return; }
    if (!this.page.seen()) return;
    if (this.page.tool === 'pan') this.page.use('foreground');
    canvas.focus();
    this.set((box.width / 2 - canvas.x) / canvas.scale, (box.height / 2 - canvas.y) / canvas.scale);
  }

  end() { this.canvas.cross = this.canvas.draft = null; this.canvas.draw(); }

  // Moves the cross to a point within the image, and brings it into view.
  set(x, y) {
    const canvas = this.canvas, { width, height } = canvas.image, box = canvas.element.getBoundingClientRect();
    const within = (v, most) => Math.min(most, Math.max(0, Math.round(v)));
    canvas.cross = [within(x, width), within(y, height)];
    const left = canvas.x + canvas.cross[0] * canvas.scale, top = canvas.y + canvas.cross[1] * canvas.scale;
    const dx = Math.min(Math.max(left, 20), box.width - 20) - left, dy = Math.min(Math.max(top, 20), box.height - 20) - top;
    if (dx || dy) canvas.move(dx, dy);
    if (canvas.draft) canvas.draft.points.splice(2, 2, ...canvas.cross);
    canvas.draw();
    this.page.setStatus(`Cross at ${canvas.cross.join(', ')}${canvas.draft ? `: space sets the other ${canvas.draft.kind === 'split' ? 'end' : 'corner'}` : ''}`);
  }

  // Takes up a corner of the selected object's box near the cross. The next space sets it down.
  grip(x, y) {
    const canvas = this.canvas, page = this.page, grip = page.tool === 'box' || page.tool === 'select' ? canvas.grip(x, y, 12) : null;
    if (grip?.corner === undefined) return false;
    const [x0, y0, x1, y1] = canvas.frame.box, opposite = [[x1, y1], [x0, y1], [x0, y0], [x1, y0]][grip.corner];
    canvas.draft = { kind: 'box', object: canvas.frame.object, frame: canvas.frame.box, points: [...opposite, x, y], radius: 0, seen: page.seen() };
    return true;
  }

  // Handles a key; returns whether the cross uses it.
  press(key, isFine) {
    const canvas = this.canvas, page = this.page, by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (!canvas.cross) return false;
    const [x, y] = canvas.cross, step = isFine ? 1 : Math.max(1, Math.round(16 / canvas.scale)), draft = canvas.draft;
    if (by) this.set(x + step * by[0], y + step * by[1]);
    else if (key === 'Escape') this.end();
    else if (key !== ' ' || page.tool === 'pan') return false;
    else if (!draft && this.grip(x, y)) this.set(x, y);
    else if (page.tool === 'select' && !draft) page.pick(x, y, isFine);
    else if (page.tool !== 'box' && page.tool !== 'split' && !draft) page.draw({ kind: page.tool, points: [x, y], radius: page.brush / canvas.scale });
    else if (!draft) { canvas.draft = { kind: page.tool, points: [x, y, x, y], radius: 0, seen: page.seen() }; this.set(x, y); }
    else if (draft.kind === 'split' || (Math.abs(x - draft.points[0]) >= 2 && Math.abs(y - draft.points[1]) >= 2)) {
      canvas.draft = null;
      page.draw(draft);
    }
    return true;
  }
}
