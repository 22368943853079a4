// Draws the image with labels over it, zoomed and moved.
export class Canvas {
  constructor(element) {
    this.element = element;
    this.context = element.getContext('2d');
    this.scale = 1; this.x = 0; this.y = 0; // pixel (0, 0) of the image is at x, y
    this.view = 'outline';
    this.image = null;
    this.overlay = document.createElement('canvas');
    this.strokes = []; this.frame = null; this.showsFrame = this.movesInside = false; this.draft = null; this.cross = null; this.colours = []; this.selected = null;
    new ResizeObserver(() => this.resize()).observe(element);
  }

  resize() {
    const ratio = devicePixelRatio || 1, box = this.element.getBoundingClientRect();
    this.element.width = Math.max(1, Math.round(box.width * ratio));
    this.element.height = Math.max(1, Math.round(box.height * ratio));
    if (this.image && !this.moved) this.fit(); else this.draw();
  }

  show(image) { this.image = image; this.cross = this.draft = null; this.moved = false; this.fit(); }

  focus() { this.element.focus({ preventScroll: true }); }

  fit() {
    if (!this.image) return;
    const ratio = devicePixelRatio || 1, w = this.element.width / ratio, h = this.element.height / ratio;
    this.scale = Math.min(w / this.image.width, h / this.image.height) * 0.96;
    this.x = (w - this.scale * this.image.width) / 2;
    this.y = (h - this.scale * this.image.height) / 2;
    this.moved = false;
    this.draw();
  }

  zoom(factor, x, y) {
    const box = this.element.getBoundingClientRect();
    x ??= box.width / 2; y ??= box.height / 2;
    const scale = Math.min(60, Math.max(0.02, this.scale * factor)), by = scale / this.scale;
    this.x = x - by * (x - this.x);
    this.y = y - by * (y - this.y);
    this.scale = scale;
    this.moved = true;
    this.draw();
  }

  move(dx, dy) { this.x += dx; this.y += dy; this.moved = true; this.draw(); }

  // Converts the window coordinates of an event to image coordinates.
  place(event) {
    const box = this.element.getBoundingClientRect();
    return [(event.clientX - box.left - this.x) / this.scale, (event.clientY - box.top - this.y) / this.scale];
  }

  // Shows labels and returns the number of their pixels. runs: value, length, value, length ..; a value is 0 for no object, or an object's
  // number + 1. Objects are tinted, the selected one more; their borders are opaque.
  label(runs, width, height, colours, isSuggestion) {
    this.colours = colours;
    const labels = new Int32Array(width * height);
    for (let k = 0, at = 0; k < runs.length; k += 2) { labels.fill(runs[k], at, at + runs[k + 1]); at += runs[k + 1]; }
    this.labels = labels; this.size = [width, height]; this.isSuggestion = isSuggestion;
    this.paint();
    let n = 0;
    for (const label of labels) n += label > 0;
    return n;
  }

  // Returns the number of the object at a point of the image, or -1.
  objectAt(x, y) {
    const [width, height] = this.size ?? [0, 0];
    return !this.isSuggestion && x >= 0 && y >= 0 && x < width && y < height ? this.labels[Math.floor(y) * width + Math.floor(x)] - 1 : -1;
  }

  // Whether a stroke's line or a box meets the image. Others draw nothing; the server has the same rule.
  isOnImage(kind, points) {
    const [width, height] = this.size ?? [0, 0];
    if (kind === 'box') {
      const [x0, y0, x1, y1] = points;
      return Math.max(x0, x1) > 0 && Math.min(x0, x1) < width && Math.max(y0, y1) > 0 && Math.min(y0, y1) < height;
    }
    for (let k = 0; k < points.length; k += 2) {
      const from = k ? points.slice(k - 2, k) : points.slice(0, 2), to = points.slice(k, k + 2);
      let first = 0, last = 1;
      [width, height].forEach((side, axis) => {
        const way = to[axis] - from[axis];
        if (way === 0) { if (from[axis] < 0 || from[axis] >= side) last = -1; return; }
        const a = -from[axis] / way, b = (side - from[axis]) / way;
        first = Math.max(first, Math.min(a, b));
        last = Math.min(last, Math.max(a, b));
      });
      if (first < last) return true;
    }
    return false;
  }

  // Returns the part of the selected object's box within `reach` screen pixels of a point: {corner: 0 .. 3}, {} to move the box, or null. The
  // box tool moves the box by its sides alone, because other boxes may be drawn inside.
  grip(x, y, reach) {
    if (!this.frame || !this.showsFrame || this.isSuggestion || this.view === 'mask') return null;
    const [x0, y0, x1, y1] = this.frame.box, near = reach / this.scale;
    const corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(([cx, cy]) => Math.hypot(x - cx, y - cy));
    const corner = corners.indexOf(Math.min(...corners));
    if (corners[corner] <= near) return { corner };
    if (x < x0 - near || x > x1 + near || y < y0 - near || y > y1 + near) return null;
    const isOnSide = Math.min(Math.abs(x - x0), Math.abs(x - x1), Math.abs(y - y0), Math.abs(y - y1)) <= near;
    return isOnSide || this.movesInside ? {} : null;
  }

  paint() {
    if (!this.labels) return;
    const [width, height] = this.size, labels = this.labels, data = new ImageData(width, height);
    const words = new Uint32Array(data.data.buffer);
    const inner = { outline: 0x38, tint: 0x8c, mask: 0xff }[this.view];
    const reach = Math.max(1, Math.round(Math.max(width, height) / 900));
    for (let y = 0, p = 0; y < height; y++)
      for (let x = 0; x < width; x++, p++) {
        const label = labels[p];
        if (!label) { if (this.view === 'mask') words[p] = 0xff000000; continue; }
        const [r, g, b] = this.colours[label] ?? [255, 0, 128];
        let alpha = inner;
        if (x < reach || y < reach || x >= width - reach || y >= height - reach || labels[p - reach] !== label || labels[p + reach] !== label ||
            labels[p - reach * width] !== label || labels[p + reach * width] !== label) alpha = 0xff;
        else if (this.isSuggestion && ((x + y) >> 3) % 2) alpha = 0x14;
        else if (!this.isSuggestion && label === this.selected + 1 && this.view === 'outline') alpha = 0x68;
        words[p] = (alpha << 24 | b << 16 | g << 8 | r) >>> 0;
      }
    this.overlay.width = width; this.overlay.height = height;
    this.overlay.getContext('2d').putImageData(data, 0, 0);
    this.draw();
  }

  draw() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.render(); });
  }

  stroke(points, radius, style) {
    const c = this.context;
    c.lineCap = c.lineJoin = 'round';
    c.strokeStyle = style;
    c.lineWidth = Math.max(2 * radius, 2.5 / this.scale);
    c.beginPath();
    c.moveTo(points[0], points[1]);
    for (let k = 0; k < points.length; k += 2) c.lineTo(points[k], points[k + 1] + 1e-3);
    c.stroke();
  }

  mark(kind, points, radius) {
    const c = this.context;
    if (kind === 'box') {
      c.lineWidth = 2 / this.scale;
      c.setLineDash([6 / this.scale, 4 / this.scale]);
      c.strokeStyle = '#fff';
      c.strokeRect(points[0], points[1], points[2] - points[0], points[3] - points[1]);
      c.lineDashOffset = 5 / this.scale;
      c.strokeStyle = '#000';
      c.strokeRect(points[0], points[1], points[2] - points[0], points[3] - points[1]);
      c.setLineDash([]);
      c.lineDashOffset = 0;
    } else if (kind !== 'erase' || this.draft) {
      const styles = { foreground: 'rgba(60, 220, 90, .75)', background: 'rgba(235, 60, 50, .75)', erase: 'rgba(255, 255, 255, .6)', split: 'rgba(255, 214, 0, .9)' };
      this.stroke(points, radius, styles[kind]);
    }
  }

  render() {
    const c = this.context, ratio = devicePixelRatio || 1;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.element.width, this.element.height);
    if (!this.image) return;
    c.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.x, ratio * this.y);
    c.imageSmoothingEnabled = this.scale < 3;
    c.drawImage(this.image, 0, 0);
    if (this.labels) c.drawImage(this.overlay, 0, 0);
    if (this.view !== 'mask')
      for (const s of this.strokes) if (s.object === this.selected && s.kind !== 'erase' && !(s.kind === 'box' && this.draft?.frame)) this.mark(s.kind, s.points, s.radius);
    if (this.frame && this.showsFrame && this.view !== 'mask' && !this.isSuggestion && !this.draft) this.markCorners(this.frame.box);
    if (this.draft) this.mark(this.draft.kind, this.draft.points, this.draft.radius);
    if (this.cross) this.markCross(...this.cross);
  }

  markCorners([x0, y0, x1, y1]) {
    const c = this.context, side = 9 / this.scale;
    c.lineWidth = 1.5 / this.scale;
    for (const [x, y] of [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]) {
      c.fillStyle = '#fff';
      c.strokeStyle = '#000';
      c.fillRect(x - side / 2, y - side / 2, side, side);
      c.strokeRect(x - side / 2, y - side / 2, side, side);
    }
  }

  markCross(x, y) {
    const c = this.context, long = 14 / this.scale, gap = 3 / this.scale;
    for (const [width, style] of [[4, '#000'], [2, '#fff']]) {
      c.lineWidth = width / this.scale;
      c.strokeStyle = style;
      c.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        c.moveTo(x + dx * gap, y + dy * gap);
        c.lineTo(x + dx * long, y + dy * long);
      }
      c.stroke();
    }
  }
}
