// Talks to the server: JSON both ways, errors as exceptions with the server's words.
export async function ask(path, body) {
  let answer;
  try {
    answer = await fetch('/api/' + path, body === undefined ? {} : {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  } catch {
    throw new Error('The server does not answer. Is `cleave label` still running? What was saved is safe.');
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

export async function fetchImage(number) {
  const answer = await fetch('/api/image/' + number);
  if (!answer.ok) throw Object.assign(new Error((await answer.json()).error), { code: answer.status });
  const bytes = await answer.blob();
  try {
    return await createImageBitmap(bytes);
  } catch {
    throw Object.assign(new Error('This browser cannot show the image.'), { code: 422 });
  }
}
