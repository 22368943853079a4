// The page: what is open, what is chosen, and what the server said last.
import { ask, fetchImage } from './server.js';
import { Canvas } from './canvas.js';
import { listen } from './tools.js';
import { bind } from './keys.js';

const $ = id => document.getElementById(id);
const canvas = new Canvas($('canvas'));
const TRAIN_AT = [5, 10, 20, 40, 80, 160, 320]; // accepted images
const views = ['outline', 'tint', 'mask'];

const page = {
  state: null, document: null, tool: 'figure', brush: 4, label: 1, object: 0, suggestion: null, holdsSpace: false,
  queue: Promise.resolve(),

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

  // An image that cannot be opened is marked in the list; the one before stays open here and in the server.
  async open(number) {
    try {
      const image = await fetchImage(number);
      const answer = await ask('open/' + number, {});
      return [answer, image];
    } catch (error) {
      if (error.code === 404 || error.code === 422) this.state.images[number].status = 'unreadable';
      this.list();
      throw error;
    }
  },

  async load(number) {
    const [answer, image] = await this.open(number);
    this.suggestion = null;
    this.object = answer.objects.length ? answer.objects.at(-1).object : answer.next_object;
    this.show(answer, image);
    history.replaceState(null, '', '#' + number);
    $('name').textContent = answer.name;
    document.title = answer.name + ' · cleave label';
    if (this.state.has_model && !answer.objects.length && !answer.undo) await this.lookSuggestion();
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
    const n = canvas.label(answer.runs, answer.width, answer.height, this.colours(), false);
    const item = this.state.images[answer.number];
    item.status = answer.accepted ? 'accepted' : answer.undo || answer.objects.length ? 'begun'
      : item.status === 'unreadable' ? 'new' : item.status;
    const own = answer.objects.find(o => o.object === this.object);
    if (own) this.label = own.label;
    $('undo').disabled = !answer.undo;
    $('redo').disabled = !answer.redo;
    $('empty').hidden = answer.objects.length > 0 || answer.undo;
    setStatus(`${answer.objects.length} object${answer.objects.length === 1 ? '' : 's'}, ${n} pixels, ${answer.ms.toFixed(0)} ms, saved`);
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
      let own = this.document.objects.find(o => o.object === this.object);
      if (stroke.kind === 'box' && own) { this.object = this.document.next_object; own = null; }
      const round = v => Math.round(v * 10) / 10;
      this.show(await ask('stroke/' + this.document.number, {
        revision: this.document.revision, kind: stroke.kind, object: this.object, label: own?.label ?? this.label,
        radius: round(Math.min(500, stroke.radius)), points: stroke.points.map(round) }));
    });
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
      const done = this.state.images.filter(i => i.status === 'accepted').length;
      if (TRAIN_AT.includes(done) && !this.state.training?.running) {
        await ask('train', {});
        await this.refresh();
      }
      const order = this.order(), at = order.indexOf(number);
      const isLeft = i => i !== number && !['accepted', 'unreadable'].includes(this.state.images[i].status);
      await this.loadFirst([...order.slice(at + 1), ...order.slice(0, at)].filter(isLeft));
      if (!order.some(isLeft)) setStatus('All images are accepted.');
    });
  },

  async lookSuggestion() {
    const { number, revision, width, height } = this.document;
    const answer = await ask('suggest/' + number, { revision });
    this.suggestion = answer.runs;
    const n = canvas.label(answer.runs, width, height, this.colours(), true);
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
    document.body.dataset.model = this.state.has_model ? this.state.training.models || 'old' : '';
    this.list();
    if (!had && this.state.has_model && this.document && !this.document.objects.length) await this.lookSuggestion();
  },

  // Worth labelling first: where the model expects most errors. Without a model, the folder's order.
  order() {
    const images = this.state.images, all = images.map((_, i) => i);
    if (!images.some(i => i.expected >= 0)) return all;
    return all.sort((a, b) => (images[a].status === 'accepted') - (images[b].status === 'accepted') || images[b].expected - images[a].expected || a - b);
  },

  step(by) {
    return this.run(async () => {
      const order = this.order(), n = order.length, at = order.indexOf(this.document?.number ?? order[0]);
      await this.loadFirst(order.map((_, k) => order[(at + by * (k + 1) + n * n) % n]));
    });
  },

  use(tool) { this.tool = tool; this.list(); },
  newObject() {
    if (!this.document) return;
    this.object = this.document.next_object;
    canvas.selected = this.object;
    canvas.draw();
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
    canvas.draw();
    this.list();
  },
  chooseObject(object) {
    this.object = object;
    this.label = this.document.objects.find(o => o.object === object)?.label ?? this.label;
    canvas.selected = object;
    canvas.draw();
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
  showZoom() { $('zoom').textContent = Math.round(100 * canvas.scale) + ' %'; },
  showSaved() { setStatus('Saved: every stroke is, at once.'); },
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
    const signs = { new: '', begun: '…', accepted: '✓', unreadable: 'unreadable' };
    fill($('images'), this.order(), i => {
      const image = this.state.images[i];
      const note = image.status === 'new' && image.expected >= 0 ? (100 * image.expected).toFixed(0) + ' %' : signs[image.status];
      return row(image.name, null, note, i === this.document?.number, () => this.run(() => this.load(i)));
    });
    const done = this.state.images.filter(i => i.status === 'accepted').length;
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
    if (t?.loss != null) return `Error on images not learned from: ${t.loss.toFixed(1)} ± ${(t.standard_error ?? 0).toFixed(1)} % (weighted, cross-validated).`;
    return this.state.has_model ? 'A model is there.' : 'No model yet. Accept a few images, or draw on them, then train.';
  },
};

function row(text, colour, note, current, click) {
  const li = document.createElement('li'), button = document.createElement('button');
  if (colour) { const swatch = document.createElement('span'); swatch.className = 'swatch'; swatch.style.background = colour; button.append(swatch); }
  const words = document.createElement('span'), small = document.createElement('small');
  words.className = 'text'; words.textContent = text; small.textContent = note;
  button.append(words, small);
  button.setAttribute('aria-current', current);
  button.addEventListener('click', click);
  li.append(button);
  return li;
}

function fill(list, items, make) {
  list.replaceChildren(...items.map(make));
  const current = list.querySelector('[aria-current="true"]');
  if (current && list.scrollHeight > list.clientHeight) list.scrollTop = Math.max(0, current.offsetTop - list.offsetTop - list.clientHeight / 2);
}

function setStatus(text) { $('status').textContent = text; }

let toastTimer;
function toast(text) {
  $('toast').textContent = text;
  $('toast').hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $('toast').hidden = true; }, 8000);
}

listen(canvas, page);
bind(page);
for (const button of document.querySelectorAll('[data-tool]')) button.addEventListener('click', () => page.use(button.dataset.tool));
const clicks = { previous: () => page.step(-1), next: () => page.step(1), undo: () => page.undo(), redo: () => page.redo(), accept: () => page.accept(),
  panel: () => page.togglePanel(), help: () => page.showKeys(), view: () => page.nextView(), fit: () => page.fit(), new: () => page.newObject(),
  delete: () => page.deleteObject(), train: () => page.train(), suggest: () => page.suggest() };
for (const [id, run] of Object.entries(clicks)) $(id).addEventListener('click', run);
$('brush').addEventListener('input', event => { page.brush = Number(event.target.value); });
$('add').addEventListener('submit', event => {
  event.preventDefault();
  page.run(async () => {
    page.state = await ask('label', { name: $('label-name').value.trim() });
    $('label-name').value = '';
    page.list();
  });
});
setInterval(() => { if (page.state && (page.state.training?.running || page.state.images.some(i => i.expected < 0 && i.status !== 'unreadable') && page.state.has_model)) page.run(() => page.refresh()); }, 1500);

page.run(async () => {
  await page.refresh();
  if (matchMedia('(max-width: 700px)').matches) page.togglePanel();
  const wanted = Number(location.hash.slice(1)), order = page.order();
  const isWanted = location.hash && wanted >= 0 && wanted < order.length;
  const ranks = order.map(i => (isWanted && i === wanted ? 0 : page.state.images[i].status !== 'accepted' ? 1 : 2));
  await page.loadFirst([0, 1, 2].flatMap(rank => order.filter((_, k) => ranks[k] === rank)));
});
