// The page: what is open, what is chosen, and what the server said last.
import { ask, fetchImage } from './server.js';
import { Canvas } from './canvas.js';
import { listen, Cross } from './tools.js';
import { bind } from './keys.js';

const $ = id => document.getElementById(id);
const canvas = new Canvas($('canvas'));
const TRAIN_AT = [5, 10, 20, 40, 80, 160, 320]; // accepted images
const views = ['outline', 'tint', 'mask'];

const page = {
  state: null, document: null, tool: 'figure', brush: 4, label: 1, object: 0, suggestion: null, holdsSpace: false,
  filter: '', renamed: 0, unshown: new Set(), queue: Promise.resolve(),

  // One request at a time; errors are shown, never thrown.
  run(work) {
    this.queue = this.queue.then(work).catch(error => {
      toast(error.message);
      if (error.code === 409 && this.document) return this.load(this.document.number).catch(() => {});
    });
    return this.queue;
  },

  colours() {
    const colours = [];
    for (const label of this.state.labels) colours[label.value] = label.colour;
    return colours;
  },

  // By the numbers of objects + 1.
  coloursOf(objects) {
    const colours = this.colours(), own = [];
    for (const o of objects) own[o.object + 1] = colours[o.label];
    return own;
  },

  // An image that cannot be opened is marked in the list; the one before stays open here and in the server.
  async open(number) {
    try {
      const image = await fetchImage(number);
      const answer = await ask('open/' + number, {});
      return [answer, image];
    } catch (error) {
      if (error.code === 404 || error.code === 422) { this.unshown.add(number); this.state.images[number].status = 'unreadable'; }
      this.list();
      throw error;
    }
  },

  async load(number) {
    this.arrive(...await this.open(number));
    if (this.state.has_model && !this.document.objects.length && !this.document.undo) await this.lookSuggestion();
  },

  // Another image is open.
  arrive(answer, image) {
    this.suggestion = null;
    this.object = answer.objects.length ? answer.objects.at(-1).object : answer.next_object;
    this.show(answer, image);
    history.replaceState(null, '', '#' + answer.number);
    this.unshown.delete(answer.number);
    setName($('name'), answer.name);
    document.title = answer.name + ' · cleave label';
  },

  // The first of these that can be opened; says why others cannot.
  async loadFirst(numbers) {
    for (const number of numbers) {
      if (this.state.images[number].status === 'unreadable') continue;
      try {
        return await this.load(number);
      } catch (error) {
        if (this.state.images[number].status !== 'unreadable') throw error;
        toast(error.message);
      }
    }
  },

  show(answer, image) {
    this.document = answer;
    if (image) canvas.show(image);
    this.suggestion = null;
    $('banner').hidden = true;
    canvas.strokes = answer.strokes;
    canvas.selected = this.object;
    const n = canvas.label(answer.runs, answer.width, answer.height, this.coloursOf(answer.objects), false);
    const item = this.state.images[answer.number];
    item.status = answer.accepted ? (answer.objects.length ? 'accepted' : 'empty') : answer.undo || answer.objects.length ? 'begun'
      : item.status === 'unreadable' ? 'new' : item.status;
    const own = answer.objects.find(o => o.object === this.object);
    if (own) this.label = own.label;
    $('undo').disabled = !answer.undo;
    $('redo').disabled = !answer.redo;
    $('empty').hidden = answer.objects.length > 0 || answer.undo;
    setStatus(item.status === 'new' ? 'Nothing is drawn yet.'
      : `${answer.objects.length} object${answer.objects.length === 1 ? '' : 's'}, ${n} pixels, ${answer.ms.toFixed(0)} ms, saved`);
    Object.assign(document.body.dataset, { revision: answer.revision, pixels: n, objects: answer.objects.length, number: answer.number, suggestion: '',
      width: answer.width, height: answer.height });
    this.list();
    this.showZoom();
  },

  draw(stroke) {
    return this.run(async () => {
      if (!this.document) return;
      if (this.suggestion && stroke.kind !== 'box' && !this.document.objects.length) {
        this.show(await ask('accept/' + this.document.number, { revision: this.document.revision, suggestion: 1, accepted: 0 }));
        this.object = this.document.objects.at(-1)?.object ?? this.document.next_object;
      }
      if (stroke.kind === 'split') { await this.split(stroke.points); return; }
      let own = this.document.objects.find(o => o.object === this.object);
      if (stroke.kind === 'box' && own) { this.object = this.document.next_object; own = null; }
      const round = v => Math.round(v * 10) / 10;
      this.show(await ask('stroke/' + this.document.number, {
        revision: this.document.revision, kind: stroke.kind, object: this.object, label: own?.label ?? this.label,
        radius: round(Math.min(500, stroke.radius)), points: stroke.points.map(round) }));
    });
  },

  // Selects what was clicked, or makes it one with what is selected.
  pick(x, y, isMerge) {
    return this.run(async () => {
      const other = canvas.objectAt(x, y), own = this.document?.objects.find(o => o.object === this.object);
      if (other < 0) toast('There is no object.', 'note');
      else if (!isMerge || !own) this.chooseObject(other);
      else if (other !== own.object) {
        this.object = Math.max(own.object, other); // which stays
        this.show(await ask('stroke/' + this.document.number, { revision: this.document.revision, kind: 'merge', object: own.object, other, label: own.label }));
        toast(`Objects ${own.object + 1} and ${other + 1} are one; undo (Ctrl+Z) parts them.`, 'note');
      }
    });
  },

  // The object that most of the stroke is on.
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
    this.show(await ask('stroke/' + this.document.number, { revision: this.document.revision, kind: 'split', object: own.object, label: own.label,
      radius: 0, points: points.map(v => Math.round(v * 10) / 10) }));
  },

  undo() { return this.change('undo'); },
  redo() { return this.change('redo'); },
  change(what) {
    return this.run(async () => {
      if (this.document && (what === 'undo' ? this.document.undo : this.document.redo))
        this.show(await ask(`${what}/${this.document.number}`, { revision: this.document.revision }));
    });
  },

  accept() {
    return this.run(async () => {
      if (!this.document) return;
      const { number, revision } = this.document;
      this.show(await ask('accept/' + number, { revision, suggestion: this.suggestion ? 1 : 0 }));
      if (!this.document.objects.length) toast(`${this.document.name} is accepted as empty: it shows no object.`, 'note');
      const done = this.state.images.filter(isAccepted).length;
      if (TRAIN_AT.includes(done) && !this.state.training?.running) {
        await ask('train', {});
        await this.refresh();
      }
      const order = this.order(), at = order.indexOf(number);
      const isLeft = i => i !== number && ['new', 'begun'].includes(this.state.images[i].status);
      await this.loadFirst([...order.slice(at + 1), ...order.slice(0, at)].filter(isLeft));
      if (!order.some(isLeft)) setStatus(this.filter ? 'All images that the filter shows are accepted.' : 'All images are accepted.');
    });
  },

  // To the image that follows by the numbers in names, whatever order the list has.
  carry() {
    return this.run(async () => {
      if (!this.document) return;
      const from = this.document.name, answer = await ask('carry/' + this.document.number, { revision: this.document.revision });
      this.arrive(answer, await fetchImage(answer.number));
      toast(`Carried from ${from}; strokes correct it, undo (Ctrl+Z) takes it back.`, 'note');
    });
  },

  async lookSuggestion() {
    const { number, revision, width, height } = this.document;
    const answer = await ask('suggest/' + number, { revision });
    this.suggestion = answer.runs;
    const n = canvas.label(answer.runs, width, height, this.coloursOf(answer.objects), true);
    $('banner').textContent = 'As the model sees it. Enter accepts, strokes correct it, Esc drops it.';
    $('banner').hidden = false;
    $('empty').hidden = true;
    document.body.dataset.suggestion = n;
  },
  suggest() { return this.run(() => this.document && this.lookSuggestion()); },
  dropSuggestion() { if (this.suggestion) this.show(this.document); },

  train() { return this.run(async () => { await ask(this.state.training?.running ? 'stop' : 'train', {}); await this.refresh(); }); },

  async refresh() {
    const had = this.state?.has_model;
    this.state = await ask('state');
    for (const number of this.unshown) this.state.images[number].status = 'unreadable';
    document.body.dataset.model = this.state.has_model ? this.state.training.models || 'old' : '';
    this.list();
    if (!had && this.state.has_model && this.document && !this.document.objects.length) await this.lookSuggestion();
  },

  // Worth labelling first: where the model expects most errors. Without a model, the folder's order.
  order() {
    const images = this.state.images, wanted = this.filter.toLowerCase();
    const shown = images.map((_, i) => i).filter(i => images[i].name.toLowerCase().includes(wanted) || images[i].status === wanted);
    if (!images.some(i => i.expected >= 0)) return shown;
    return shown.sort((a, b) => isAccepted(images[a]) - isAccepted(images[b]) || images[b].expected - images[a].expected || a - b);
  },

  step(by) {
    return this.run(async () => {
      const order = by > 0 ? this.order() : this.order().reverse();
      const rest = order.slice(order.indexOf(this.document?.number) + 1);
      if (rest.some(i => this.state.images[i].status !== 'unreadable')) await this.loadFirst(rest);
      else toast(`This is the ${by > 0 ? 'last' : 'first'} image${this.filter ? ' that the filter shows' : ''}.`, 'note');
    });
  },

  use(tool) { this.tool = tool; this.list(); },
  newObject() {
    if (!this.document) return;
    this.object = this.document.next_object;
    canvas.selected = this.object;
    canvas.paint();
    this.list();
  },
  deleteObject() {
    return this.run(async () => {
      const own = this.document?.objects.find(o => o.object === this.object);
      if (own) this.show(await ask('stroke/' + this.document.number, { revision: this.document.revision, kind: 'delete', object: own.object, label: own.label }));
    });
  },
  chooseLabel(value) {
    if (value < 1 || !this.state.labels.some(l => l.value === value)) return;
    const own = this.document?.objects.find(o => o.object === this.object);
    this.label = value;
    if (own && own.label !== value) {
      const other = this.document.objects.findLast(o => o.label === value);
      this.object = other ? other.object : this.document.next_object;
    }
    canvas.selected = this.object;
    canvas.paint();
    this.list();
  },
  chooseObject(object) {
    this.object = object;
    this.label = this.document.objects.find(o => o.object === object)?.label ?? this.label;
    canvas.selected = object;
    canvas.paint();
    this.list();
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

  // The field below the labels is for another label's name, or for a new one of a label that is there.
  rename(value) {
    this.renamed = value;
    $('label-name').value = value ? this.state.labels.find(l => l.value === value)?.name ?? '' : '';
    $('name-it').textContent = value ? 'Rename' : 'Add';
    if (value) { this.showPanel(); $('label-name').select(); $('label-name').focus(); }
  },
  setFilter(text) { this.filter = $('filter').value = text; this.list(); },
  findImage() { this.showPanel(); $('filter').select(); $('filter').focus(); },
  showPanel() { if (document.body.classList.contains('bare')) this.togglePanel(); },
  togglePanel() { const bare = document.body.classList.toggle('bare'); $('panel').setAttribute('aria-expanded', !bare); },
  showKeys() { $('keys').showModal(); },

  list() {
    if (!this.state) return;
    for (const button of document.querySelectorAll('[data-tool]')) button.setAttribute('aria-pressed', button.dataset.tool === this.tool);
    const colour = value => `rgb(${(this.state.labels.find(l => l.value === value)?.colour ?? [128, 128, 128]).join(' ')})`;
    fill($('labels'), this.state.labels.filter(l => l.value > 0), l => row(l.name, colour(l.value), l.value <= 9 ? String(l.value) : '',
      l.value === this.label, () => this.chooseLabel(l.value)));
    const name = value => this.state.labels.find(l => l.value === value)?.name ?? String(value);
    fill($('objects'), this.document?.objects ?? [], o => row(`${name(o.label)} ${o.object + 1}`, colour(o.label), `${o.box[2]} × ${o.box[3]}`,
      o.object === this.object, () => this.chooseObject(o.object)));
    const signs = { new: ['', 'nothing is drawn yet'], begun: ['…', 'begun, not accepted yet'], accepted: ['✓', 'accepted'],
      empty: ['✓ empty', 'accepted as empty: it shows no object'], unreadable: ['unreadable', 'cannot be opened'] };
    const isExpected = image => image.status === 'new' && image.expected >= 0;
    fill($('images'), this.order(), i => {
      const image = this.state.images[i], share = (100 * image.expected).toFixed(0) + ' %';
      const [note, meaning] = isExpected(image) ? [share, `the model expects ${share} of its pixels to be wrong`] : signs[image.status];
      return row(image.name, null, note, i === this.document?.number, () => this.run(() => this.load(i)), meaning);
    });
    $('percent').hidden = !this.state.images.some(isExpected);
    $('folder').textContent = 'Every stroke is saved in ';
    $('folder').append(nameOf(this.state.folder));
    $('folder').title = `${this.state.folder}: masks/, boxes.tsv, strokes/, labels.tsv; the model is label.cleave`;
    const done = this.state.images.filter(isAccepted).length;
    $('count').textContent = `${done} of ${this.state.images.length} accepted`;
    document.body.dataset.accepted = done;
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

const isAccepted = image => image.status === 'accepted' || image.status === 'empty';

// Long names are cut in the middle: what tells them apart is mostly at the end.
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
page.cross = new Cross(canvas, page);
bind(page);
for (const button of document.querySelectorAll('[data-tool]')) button.addEventListener('click', () => page.use(button.dataset.tool));
const clicks = { previous: () => page.step(-1), next: () => page.step(1), undo: () => page.undo(), redo: () => page.redo(), accept: () => page.accept(),
  panel: () => page.togglePanel(), help: () => page.showKeys(), view: () => page.nextView(), fit: () => page.fit(), new: () => page.newObject(),
  delete: () => page.deleteObject(), train: () => page.train(), suggest: () => page.suggest(), rename: () => page.rename(page.label) };
for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run);
// What the mouse pressed keeps no focus: else the next Enter would press it again.
addEventListener('click', event => { if (event.detail > 0 && event.target.closest('button') && !event.target.closest('dialog')) canvas.focus(); }, true);
$('brush').addEventListener('pointerup', () => canvas.focus());
$('filter').addEventListener('input', event => page.setFilter(event.target.value.trim()));
$('filter').addEventListener('keydown', event => {
  if (event.key === 'Escape') page.setFilter('');
  if (event.key === 'Escape' || event.key === 'Enter') canvas.focus();
  if (event.key === 'Enter' && page.order().length) page.run(() => page.loadFirst(page.order()));
});
$('label-name').addEventListener('keydown', event => { if (event.key === 'Escape') { page.rename(0); canvas.focus(); } });
$('brush').addEventListener('input', event => { page.brush = Number(event.target.value); });
$('add').addEventListener('submit', event => {
  event.preventDefault();
  page.run(async () => {
    const name = $('label-name').value.trim();
    await (page.renamed ? ask('rename', { value: page.renamed, name }) : ask('label', { name }));
    page.rename(0);
    await page.refresh();
  });
});
setInterval(() => { if (page.state && (page.state.training?.running || page.state.images.some(i => i.expected < 0 && i.status !== 'unreadable') && page.state.has_model)) page.run(() => page.refresh()); }, 1500);

page.run(async () => {
  await page.refresh();
  if (matchMedia('(max-width: 700px)').matches) page.togglePanel();
  const wanted = Number(location.hash.slice(1)), order = page.order();
  const isWanted = location.hash && wanted >= 0 && wanted < order.length;
  const ranks = order.map(i => (isWanted && i === wanted ? 0 : !isAccepted(page.state.images[i]) ? 1 : 2));
  await page.loadFirst([0, 1, 2].flatMap(rank => order.filter((_, k) => ranks[k] === rank)));
});
