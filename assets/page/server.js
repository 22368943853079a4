const GONE = 'The server does not answer. Is `cleave label` still running? What was saved is safe.';

// Sends a request to the server: JSON both ways. Errors are exceptions with the server's message.
export async function ask(path, body) {
  let answer;
  try {
    answer = await fetch('/api/' + path, body === undefined ? {} : {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  } catch {
    throw new Error(GONE);
  }
  const text = await answer.text();
  let value = null;
  try { value = JSON.parse(text); } catch { /* reported below */ }
  if (!answer.ok || value === null) {
    const error = new Error(value?.error ?? `The server answered ${answer.status}.`);
    error.code = answer.status;
    throw error;
  }
  return value;
}

// Fetches an image: its bitmap, and the tag of its file. Returns null if the request was aborted.
export async function fetchImage(number, name, signal) {
  let bytes, tag;
  try {
    const answer = await fetch('/api/image/' + number, { signal });
    if (!answer.ok) throw Object.assign(new Error((await answer.json()).error), { code: answer.status });
    bytes = await answer.blob();
    tag = answer.headers.get('ETag');
  } catch (error) {
    if (signal.aborted) return null;
    throw error.code ? error : new Error(GONE);
  }
  try {
    return { bitmap: await createImageBitmap(bytes), tag };
  } catch {
    throw Object.assign(new Error(`${name}: this browser cannot show the image.`), { code: 422 });
  }
}
