// The page: the open image, the user's choices, and the last answer of the server.
import { ask, fetchImage } from './server.js';
import { Canvas } from './canvas.js';
import { listen, Cross } from './tools.js';
import { bind } from './keys.js';

const $ = id => document.getElementById(id);
const canvas = new Canvas($('canvas'));
const TRAIN_AT = [5, 10, 20, 40, 80, 160, 320]; // numbers of accepted images after which the page trains
const TWICE_MS = 250; // presses within this time count as one
const views = ['outline', 'tint', 'mask'];

const page = {
  state: null, document: null, tool: 'foreground', brush: 4, label: 1, object: 0, suggestion: null, isLooking: false, holdsSpace: false,
  filter: '', renamed: null, unshown: new Set(), queue: Promise.resolve(),
  // Ways to other images are numbered: the newest one, and the last one that has ended. While they differ, an image loads.
  newest: 0, ended: 0, at: -1, fetching: null,
  showing: 0, // increases whenever an image is shown, also the same one again
  accepted: [], acceptedAt: -1e9,

  // Runs actions one at a time, in the order of the user's input. Shows errors, never throws them.
  run(work) {
    this.queue = this.queue.then(work).catch(error => {
      toast(error.message.replace(/; (open (it|the image) again|reload (it|the page))$/, '; it is shown as it is now')); // see reload
      if (error.code === 409 && this.state && !this.isLoading()) return this.reload().catch(() => {});
    });
    return this.queue;
  },

  isLoading() { return this.newest !== this.ended; },

  // Returns what is shown now, to which actions are bound: the image and its suggestion. Null while an image loads.
  seen() { return this.document && !this.isLoading() ? { showing: this.showing, suggestion: this.suggestion } : null; },

  // Runs an action on the image that was seen, and on no other one. Does nothing while an image loads.
  act(work, seen = this.seen()) {
    if (!seen) return this.queue;
    return this.run(() => (this.showing === seen.showing ? work(seen) : undefined));
  },

  // Goes to another image. Aborts the request of a picture for which an earlier way still waits.
  go(work) {
    const way = ++this.newest;
    this.fetching?.abort();
    this.showLoading('');
    return this.run(async () => { try { await work(way); } finally { this.end(way); } });
  },
  end(way) { this.ended = Math.max(this.ended, way); this.showLoading(''); },

  // Loads everything again after another window, program or server changed something.
  async reload() {
    const way = ++this.newest;
    try {
      await this.refresh();
      if (this.document && this.state.images[this.document.number]) await this.load(this.document.number, way);
    } finally { this.end(way); }
  },

  showLoading(name) {
    const isLoading = this.isLoading();
    document.body.classList.toggle('loading', isLoading);
    document.body.dataset.loading = isLoading ? 1 : '';
    $('loading').hidden = !isLoading;
    $('loading').textContent = name ? `Loading ${name} …` : 'Loading …';
    $('stage').setAttribute('aria-busy', isLoading);
    if (isLoading) { canvas.cross = canvas.draft = null; canvas.draw(); }
  },

  // Each change names its image or folder, so that the server refuses it if that has changed.
  change(what, body = {}) {
    const { number, name, opening, revision } = this.document;
    return ask(`${what}/${number}`, { photo: name, opening, revision, ...body });
  },
  askFolder(what, body = {}) { return ask(what, { folder: this.state.folder, ...body }); },

  own() { return this.document?.objects.find(o => o.object === this.object); },

  colours() {
    const colours = [];
    for (const label of this.state.labels) colours[label.value] = label.colour;
    return colours;
  },

  // Returns colours by the numbers of objects + 1.
  coloursOf(objects) {
    const colours = this.colours(), own = [];
    for (const o of objects) own[o.object + 1] = colours[o.label];
    return own;
  },

  // Opens an image. One that cannot be opened is marked in the list; the one before stays open here and in the server. The picture is null if
  // there is a newer way.
  async open(number, way) {
    try {
      this.fetching = new AbortController();
      const picture = way === this.newest ? await fetchImage(number, this.state.images[number].name, this.fetching.signal) : null;
      const answer = await ask('open/' + number, { photo: this.state.images[number].name });
      checkPicture(answer, picture);
      return [answer, way === this.newest ? picture : null];
    } catch (error) {
      if (error.code === 404 || error.code === 422) { this.unshown.add(number); this.state.images[number].status = 'unreadable'; }
      this.list();
      throw error;
    } finally { this.fetching = null; }
  },

  async load(number, way) {
    this.showLoading(this.state.images[number].name);
    const [answer, picture] = await this.open(number, way);
    this.at = number;
    if (!picture) return;
    this.arrive(answer, picture, way);
    if (this.state.has_model && !this.document.objects.length && !this.document.undo && !this.document.accepted) await this.lookSuggestion();
  },

  // Shows an image that the server has opened.
  arrive(answer, picture, way) {
    this.showing++;
    this.suggestion = null;
    this.object = answer.objects.length ? answer.objects.at(-1).object : answer.next_object;
    this.at = answer.number;
    this.show(answer, picture);
    history.replaceState(null, '', '#' + answer.number);
    this.unshown.delete(answer.number);
    setName($('name'), answer.name);
    document.title = answer.name + ' · cleave label';
    this.end(way);
  },

  // Loads the first image that can be opened; shows why others cannot.
  async loadFirst(numbers, way) {
    for (const number of numbers) {
      if (this.state.images[number].status === 'unreadable') continue;
      try {
        return await this.load(number, way);
      } catch (error) {
        if (this.state.images[number].status !== 'unreadable') throw error;
        toast(error.message);
      }
    }
  },

  show(answer, picture) {
    this.document = answer;
    if (picture) canvas.show(picture.bitmap);
    this.suggestion = null;
    $('banner').hidden = true;
    canvas.strokes = answer.strokes;
    this.markSelected();
    const n = canvas.label(answer.runs, answer.width, answer.height, this.coloursOf(answer.objects), false);
    const item = this.state.images[answer.number], isDrawn = answer.undo || answer.objects.length > 0;
    item.status = answer.accepted ? (answer.objects.length ? 'accepted' : 'empty') : isDrawn ? 'begun' : 'new';
    this.label = this.own()?.label ?? this.label;
    $('accept').textContent = answer.accepted ? 'Accepted ✓' : 'Accept';
    $('accept').title = answer.accepted ? 'It is accepted; go on (Enter)' : 'Accept the labels and go on (Enter)';
    $('undo').disabled = !answer.undo;
    $('redo').disabled = !answer.redo;
    $('empty').hidden = isDrawn || answer.accepted;
    setStatus(item.status === 'new' ? 'Nothing is drawn on this image.'
      : `${countOf(answer.objects.length, 'object')}, ${countOf(n, 'pixel')}, ${answer.ms.toFixed(0)} ms, saved${answer.accepted ? ', accepted' : ''}`);
    Object.assign(document.body.dataset, { revision: answer.revision, pixels: n, objects: answer.objects.length, number: answer.number, suggestion: '',
      width: answer.width, height: answer.height, status: item.status });
    this.list();
    this.showZoom();
  },

  // Marks the object that strokes change, and the corners of its box.
  markSelected() {
    const own = this.own();
    canvas.selected = this.object;
    canvas.frame = own?.frame ? { object: own.object, box: own.frame } : null;
    canvas.showsFrame = this.tool === 'box' || this.tool === 'select';
    canvas.movesInside = this.tool === 'select';
  },

  // Draws a stroke. stroke.seen: what was shown when it began; stroke.object: the object whose box it moves.
  draw(stroke) {
    return this.act(async seen => {
      if (seen.suggestion && this.suggestion === seen.suggestion && stroke.kind !== 'box' && !this.document.objects.length) {
        this.show(await this.change('accept', { suggestion: seen.suggestion.model, accepted: 0 }));
        this.object = this.document.objects.at(-1)?.object ?? this.document.next_object;
      }
      if (stroke.kind === 'split') { await this.split(stroke.points); return; }
      if (stroke.kind === 'box' && stroke.object === undefined && this.own()) this.object = this.document.next_object;
      this.object = stroke.object ?? this.object;
      this.show(await this.change('stroke', { kind: stroke.kind, object: this.object, label: this.own()?.label ?? this.label,
        radius: round(Math.min(500, stroke.radius)), points: stroke.points.map(round) }));
    }, stroke.seen);
  },

  // Selects the object that was clicked, or merges it with the selected one.
  pick(x, y, isMerge) {
    return this.act(async () => {
      const other = canvas.objectAt(x, y), own = this.own();
      if (other < 0) toast('There is no object.', 'note');
      else if (!isMerge || !own) this.select(other);
      else if (other !== own.object) {
        this.object = Math.max(own.object, other); // the one that stays
        this.show(await this.change('stroke', { kind: 'merge', object: own.object, other, label: own.label }));
        toast(`Objects ${own.object + 1} and ${other + 1} are one; undo (Ctrl+Z) parts them.`, 'note');
      }
    });
  },

  // Splits the object that has most of the stroke.
  async split(points) {
    const on = new Map();
    for (let k = 0; k + 3 < points.length; k += 2)
      for (let t = 0; t <= 1; t += 0.05) {
        const object = canvas.objectAt(points[k] + t * (points[k + 2] - points[k]), points[k + 1] + t * (points[k + 3] - points[k + 1]));
        on.set(object, (on.get(object) ?? 0) + Math.hypot(points[k + 2] - points[k], points[k + 3] - points[k + 1]));
      }
    on.delete(-1);
    const [most] = [...on].sort((a, b) => b[1] - a[1]), own = this.document.objects.find(o => o.object === most?.[0]);
    if (!own) { toast('Draw the stroke across an object.', 'note'); return; }
    this.object = own.object;
    this.show(await this.change('stroke', { kind: 'split', object: own.object, label: own.label, radius: 0, points: points.map(round) }));
  },

  undo() { return this.act(async () => { if (this.document.undo) this.show(await this.change('undo')); }); },
  redo() { return this.act(async () => { if (this.document.redo) this.show(await this.change('redo')); }); },

  // Accepts what was seen, once: not the image that loads next, not a suggestion that came since, not again by the second of two quick presses.
  accept() {
    const seen = this.seen(), now = performance.now();
    if (!seen || now - this.acceptedAt < TWICE_MS) return this.queue;
    if (this.isLooking) { setStatus('The suggestion is on its way: accept it once it is shown.'); return this.queue; }
    this.acceptedAt = now;
    return this.go(async way => {
      if (this.showing !== seen.showing) return;
      if (this.suggestion && this.suggestion !== seen.suggestion) { toast('There is a new suggestion: look at it, then accept.', 'note'); return; }
      const { number, name } = this.document;
      this.show(await this.change('accept', { suggestion: this.suggestion?.model ?? 0 }));
      this.accepted.push(number);
      if (!this.document.objects.length) toast(`${name} is accepted as empty: it shows no object. U takes that back.`, 'note');
      const done = this.state.images.filter(isAccepted).length;
      if (TRAIN_AT.includes(done) && !this.state.training?.running) {
        await this.askFolder('train');
        await this.refresh();
      }
      const order = this.order(), at = order.indexOf(number);
      const isLeft = i => i !== number && ['new', 'begun'].includes(this.state.images[i].status);
      await this.loadFirst([...order.slice(at + 1), ...order.slice(0, at)].filter(isLeft), way);
      if (!order.some(isLeft)) setStatus(this.filter ? 'All images that the filter shows are accepted.' : 'All images are accepted.');
    });
  },

  // Withdraws the acceptance of the image that is shown, otherwise of the one that was accepted last, which opens.
  takeBack() {
    if (!this.seen()) return this.queue;
    if (this.document.accepted) return this.act(() => this.unaccept());
    return this.go(async way => {
      let number;
      do number = this.accepted.pop(); while (number !== undefined && !isAccepted(this.state.images[number]));
      if (number === undefined) { toast('Nothing was accepted just now; open an accepted image in the list to take its acceptance back.', 'note'); return; }
      await this.load(number, way);
      if (this.document.number === number && this.document.accepted) await this.unaccept();
    });
  },
  async unaccept() {
    this.show(await this.change('accept', { accepted: 0 }));
    this.accepted = this.accepted.filter(n => n !== this.document.number);
    this.list();
    toast(`${this.document.name} is no longer accepted.`, 'note');
  },

  // Propagates to the image that follows by the numbers in names, whatever order the list has.
  propagate() {
    const seen = this.seen();
    if (!seen) return this.queue;
    return this.go(async way => {
      if (this.showing !== seen.showing) return;
      const from = this.document.name, answer = await this.change('propagate');
      this.showLoading(answer.name);
      this.fetching = new AbortController();
      const picture = await fetchImage(answer.number, answer.name, this.fetching.signal).finally(() => { this.fetching = null; });
      this.at = answer.number;
      checkPicture(answer, picture);
      if (!picture || way !== this.newest) return;
      this.arrive(answer, picture, way);
      toast(`Propagated from ${from}; strokes correct it, undo (Ctrl+Z) takes it back.`, 'note');
    });
  },

  async lookSuggestion() {
    const { width, height } = this.document;
    $('banner').textContent = 'The model predicts …';
    $('banner').hidden = false;
    this.isLooking = true;
    try {
      const answer = await this.change('suggest');
      this.suggestion = { model: answer.model };
      const n = canvas.label(answer.runs, width, height, this.coloursOf(answer.objects), true);
      $('banner').textContent = 'As the model sees it. Enter accepts, strokes correct it, Esc drops it.';
      $('empty').hidden = true;
      document.body.dataset.suggestion = n;
      setStatus(`The model suggests ${countOf(n, 'pixel')}; nothing of that is kept before Enter or a stroke.`);
    } catch (error) {
      $('banner').hidden = true;
      throw error;
    } finally { this.isLooking = false; }
  },
  suggest() { return this.act(() => this.lookSuggestion()); },
  dropSuggestion() { return this.act(() => { if (this.suggestion) this.show(this.document); }); },

  train() { return this.run(async () => { await this.askFolder(this.state.training?.running ? 'stop' : 'train'); await this.refresh(); }); },

  async refresh() {
    const had = this.state?.model;
    this.state = await ask('state');
    for (const number of this.unshown) if (this.state.images[number]) this.state.images[number].status = 'unreadable';
    document.body.dataset.model = this.state.has_model ? this.state.training?.models || 'old' : '';
    this.list();
    const isNew = this.state.has_model && had !== this.state.model;
    if (isNew && this.document && !this.isLoading() && !this.document.accepted && (this.suggestion || !this.document.objects.length)) await this.lookSuggestion();
  },

  // Orders images by the numbers in names. With a model, images in which it expects most errors are first; accepted images and then those that
  // cannot be opened are last.
  order() {
    const images = this.state.images, wanted = this.filter.toLowerCase();
    const shown = images.map((_, i) => i).filter(i => images[i].name.toLowerCase().includes(wanted) || images[i].status === wanted);
    const part = image => (image.status === 'unreadable' ? 2 : isAccepted(image) ? 1 : 0), byRank = (a, b) => images[a].rank - images[b].rank;
    if (!images.some(i => i.expected >= 0)) return shown.sort(byRank);
    return shown.sort((a, b) => part(images[a]) - part(images[b]) || images[b].expected - images[a].expected || byRank(a, b));
  },

  step(by) {
    return this.go(async way => {
      const order = by > 0 ? this.order() : this.order().reverse();
      const rest = order.slice(order.indexOf(this.at) + 1);
      if (rest.some(i => this.state.images[i].status !== 'unreadable')) await this.loadFirst(rest, way);
      else toast(`This is the ${by > 0 ? 'last' : 'first'} image${this.filter ? ' that the filter shows' : ''}.`, 'note');
      if (way === this.newest && this.document && this.at !== this.document.number) await this.load(this.at, way); // its picture was aborted, and no image follows
    });
  },

  use(tool) { this.tool = tool; this.markSelected(); canvas.draw(); this.list(); },
  select(object) {
    this.object = object;
    this.label = this.own()?.label ?? this.label;
    this.markSelected();
    canvas.paint();
    this.list();
    const row = document.querySelector('#objects [aria-current=true]'), upper = $('upper');
    if (row && upper.scrollHeight > upper.clientHeight) row.scrollIntoView({ block: 'nearest' });
  },
  newObject() { return this.act(() => this.select(this.document.next_object)); },
  chooseObject(object) { return this.act(() => this.select(object)); },
  deleteObject() {
    return this.act(async () => {
      const own = this.own();
      if (own) this.show(await this.change('stroke', { kind: 'delete', object: own.object, label: own.label }));
    });
  },
  isLabel(value) { return value > 0 && this.state.labels.some(l => l.value === value); },
  nameOfLabel(value) { return this.state.labels.find(l => l.value === value)?.name ?? String(value); },
  // Chooses a label, and its latest object or a new one.
  chooseLabel(value) {
    return this.act(() => {
      if (!this.isLabel(value)) return;
      const own = this.own();
      this.label = value;
      if (own && own.label !== value) this.select(this.document.objects.findLast(o => o.label === value)?.object ?? this.document.next_object);
      else this.select(this.object);
    });
  },
  // Gives the selected object another label.
  relabel(value) {
    return this.act(async () => {
      const own = this.own();
      if (!this.isLabel(value)) return;
      if (!own) { toast('Select the object first whose label is to change.', 'note'); return; }
      if (own.label !== value) this.show(await this.change('stroke', { kind: 'relabel', object: own.object, label: value }));
    });
  },
  deleteLabel() {
    const value = this.label, label = this.nameOfLabel(value);
    return this.run(async () => {
      await this.askFolder('delete-label', { value, label });
      await this.refresh();
      this.label = this.state.labels.find(l => l.value > 0)?.value ?? 1;
      if (this.document) this.show(this.document); else this.list();
    });
  },

  setBrush(value) { this.brush = Math.min(60, Math.max(1, value)); $('brush').value = this.brush; },
  nextView() {
    canvas.view = views[(views.indexOf(canvas.view) + 1) % views.length];
    document.body.dataset.view = canvas.view;
    canvas.paint();
    setStatus('View: ' + canvas.view);
  },
  zoom(factor) { canvas.zoom(factor); this.showZoom(); },
  fit() { canvas.fit(); this.showZoom(); },
  showZoom() { $('zoom').textContent = `zoom ${Math.round(100 * canvas.scale)} %`; },
  showSaved() { setStatus(`Saved: every stroke is, at once, in ${this.state?.folder}.`); },
  setStatus,

  // Prepares the field below the labels to rename a label, or (0) to add one.
  rename(value) {
    this.renamed = value ? { value, label: this.nameOfLabel(value) } : null;
    $('label-name').value = this.renamed?.label ?? '';
    $('name-it').textContent = value ? 'Rename' : 'Add';
    if (value) { this.showPanel(); $('label-name').select(); $('label-name').focus(); }
  },
  setFilter(text) { this.filter = $('filter').value = text; this.list(); },
  findImage() { this.showPanel(); $('filter').select(); $('filter').focus(); },
  showPanel() { if (document.body.classList.contains('bare')) this.togglePanel(); },
  togglePanel() { const bare = document.body.classList.toggle('bare'); $('panel').setAttribute('aria-expanded', !bare); },
  showKeys() { $('keys').showModal(); $('keys').scrollTop = 0; },

  list() {
    if (!this.state) return;
    for (const button of document.querySelectorAll('[data-tool]')) button.setAttribute('aria-pressed', button.dataset.tool === this.tool);
    const colour = value => `rgb(${(this.state.labels.find(l => l.value === value)?.colour ?? [128, 128, 128]).join(' ')})`;
    fill($('labels'), this.state.labels.filter(l => l.value > 0), l => row(l.name, colour(l.value), l.value <= 9 ? String(l.value) : '',
      l.value === this.label, () => this.chooseLabel(l.value)));
    const own = this.own(), labels = this.state.labels.filter(l => l.value > 0);
    $('drop').disabled = labels.length < 2;
    $('object-label').hidden = labels.length < 2 || !own;
    if (document.activeElement !== $('object-label')) $('object-label').replaceChildren(...labels.map(l => new Option(l.name, l.value)));
    if (own) $('object-label').value = own.label;
    fill($('objects'), this.document?.objects ?? [], o => row(`${this.nameOfLabel(o.label)} ${o.object + 1}`, colour(o.label), `${o.box[2]} × ${o.box[3]}`,
      o.object === this.object, () => this.chooseObject(o.object)));
    const signs = { new: ['', 'nothing is drawn yet'], begun: ['…', 'begun, not accepted yet'], accepted: ['✓', 'accepted'],
      empty: ['✓ empty', 'accepted as empty: it shows no object'], unreadable: ['unreadable', 'cannot be opened'] };
    const isExpected = image => image.status === 'new' && image.expected >= 0;
    fill($('images'), this.order(), i => {
      const image = this.state.images[i], share = (100 * image.expected).toFixed(0) + ' %';
      const [note, meaning] = isExpected(image) ? [share, `the model expects ${share} of its pixels to be wrong`] : signs[image.status];
      return row(image.name, null, note, i === this.document?.number, () => this.go(way => this.load(i, way)), meaning);
    });
    $('percent').hidden = !this.state.images.some(isExpected);
    $('folder').textContent = 'Every stroke is saved in ';
    $('folder').append(nameOf(this.state.folder));
    $('folder').title = `${this.state.folder}: masks/, boxes.tsv, strokes/, labels.tsv; the model is label.cleave`;
    const done = this.state.images.filter(isAccepted).length;
    $('count').textContent = `${done} of ${this.state.images.length} accepted`;
    document.body.dataset.accepted = done;
    $('takeback').hidden = !this.document?.accepted && !this.accepted.some(n => isAccepted(this.state.images[n]));
    $('train').disabled = this.state.images.length < 2 && !this.state.training?.running;
    $('train').textContent = this.state.training?.running ? 'Stop' : 'Train';
    $('suggest').disabled = !this.state.has_model;
    $('training').textContent = this.trainingText();
    $('trained').hidden = !this.state.training?.running || !this.state.training.total;
    $('trained').max = this.state.training?.total || 1;
    $('trained').value = this.state.training?.done ?? 0;
    $('noted').textContent = this.state.training?.note ?? '';
  },

  trainingText() {
    const t = this.state.training;
    if (t?.running && !t.progress) return 'Learning …';
    if (t?.running) return `${t.progress} ${t.done}${t.total ? '/' + t.total : ''}${t.left_s != null ? `, ${Math.ceil(t.left_s)} s left` : ''}`;
    if (t?.error) return 'Training failed: ' + t.error;
    if (t?.loss != null) return `On images held out in turn ${t.loss.toFixed(1)}\u00a0±\u00a0${(t.standard_error ?? 0).toFixed(1)}\u00a0% of the pixels are wrong, all labels weighing the same.`;
    return this.state.has_model ? 'A model is there.' : 'No model yet. Accept a few images, or draw on them, then train.';
  },
};

// Checks that the picture is of the file that the server has opened.
function checkPicture(answer, picture) {
  if (picture && picture.tag !== `"${answer.tag}"`) throw new Error(`${answer.name} was replaced while it loaded; open it again.`);
}

const round = v => Math.round(v * 10) / 10;
const countOf = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
const isAccepted = image => image.status === 'accepted' || image.status === 'empty';

// Cuts long names in the middle, because mostly their ends differ.
function setName(element, name) {
  const letters = [...name], n = letters.length > 16 ? letters.length - 10 : letters.length;
  const head = document.createElement('span'), tail = document.createElement('span');
  head.textContent = letters.slice(0, n).join('');
  tail.textContent = letters.slice(n).join('');
  element.replaceChildren(head, tail);
  element.classList.add('name');
  element.title = name;
}

function nameOf(name) {
  const element = document.createElement('span');
  setName(element, name);
  return element;
}

function row(text, colour, note, current, click, meaning) {
  const li = document.createElement('li'), button = document.createElement('button');
  if (colour) { const swatch = document.createElement('span'); swatch.className = 'swatch'; swatch.style.background = colour; button.append(swatch); }
  const small = document.createElement('small');
  small.textContent = note;
  if (meaning) small.title = meaning;
  button.append(nameOf(text), small);
  button.setAttribute('aria-current', current);
  button.addEventListener('click', click);
  li.append(button);
  return li;
}

function fill(list, items, make) {
  const focused = [...list.children].findIndex(li => li.contains(document.activeElement));
  list.replaceChildren(...items.map(make));
  list.children[focused]?.firstChild.focus({ preventScroll: true });
  const current = list.querySelector('[aria-current="true"]');
  if (current && list.scrollHeight > list.clientHeight) list.scrollTop = Math.max(0, current.offsetTop - list.offsetTop - list.clientHeight / 2);
}

function setStatus(text) { $('status').textContent = text; }

let toastTimer;
function toast(text, kind = 'problem') {
  $('toast').textContent = text;
  $('toast').className = kind;
  $('toast').hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $('toast').hidden = true; }, kind === 'note' ? 4000 : 8000);
}

listen(canvas, page);
new ResizeObserver(() => page.showZoom()).observe($('canvas'));
page.cross = new Cross(canvas, page);
bind(page);
for (const button of document.querySelectorAll('[data-tool]')) button.addEventListener('click', () => page.use(button.dataset.tool));
const clicks = { previous: () => page.step(-1), next: () => page.step(1), undo: () => page.undo(), redo: () => page.redo(), accept: () => page.accept(),
  panel: () => page.togglePanel(), help: () => page.showKeys(), view: () => page.nextView(), fit: () => page.fit(), new: () => page.newObject(),
  delete: () => page.deleteObject(), takeback: () => page.takeBack(), drop: () => page.deleteLabel(), train: () => page.train(), suggest: () => page.suggest(), rename: () => page.rename(page.label) };
for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run);
// A button that the mouse pressed loses the focus; otherwise the next Enter would press it again.
addEventListener('click', event => { if (event.detail > 0 && event.target.closest('button') && !event.target.closest('dialog')) canvas.focus(); }, true);
$('brush').addEventListener('pointerup', () => canvas.focus());
$('filter').addEventListener('input', event => page.setFilter(event.target.value.trim()));
$('filter').addEventListener('keydown', event => {
  if (event.key === 'Escape') page.setFilter('');
  if (event.key === 'Escape' || event.key === 'Enter') canvas.focus();
  if (event.key === 'Enter' && page.order().length) page.go(way => page.loadFirst(page.order(), way));
});
$('label-name').addEventListener('keydown', event => { if (event.key === 'Escape') { page.rename(0); canvas.focus(); } });
$('object-label').addEventListener('change', event => { page.relabel(Number(event.target.value)); canvas.focus(); });
$('brush').addEventListener('input', event => { page.brush = Number(event.target.value); });
$('add').addEventListener('submit', event => {
  event.preventDefault();
  page.run(async () => {
    const name = $('label-name').value.trim();
    await (page.renamed ? page.askFolder('rename', { ...page.renamed, name }) : page.askFolder('label', { name }));
    page.rename(0);
    canvas.focus();
    await page.refresh();
  });
});
setInterval(() => { if (page.state && (page.state.training?.running || page.state.images.some(i => i.expected < 0 && i.status !== 'unreadable') && page.state.has_model)) page.run(() => page.refresh()); }, 1500);

page.go(async way => {
  await page.refresh();
  if (matchMedia('(max-width: 700px)').matches) page.togglePanel();
  const wanted = Number(location.hash.slice(1)), order = page.order();
  const isWanted = location.hash && wanted >= 0 && wanted < order.length;
  const ranks = order.map(i => (isWanted && i === wanted ? 0 : !isAccepted(page.state.images[i]) ? 1 : 2));
  await page.loadFirst([0, 1, 2].flatMap(rank => order.filter((_, k) => ranks[k] === rank)), way);
});
