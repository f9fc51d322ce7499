// Talks to the program behind the page. Every error becomes one line.

const key = document.querySelector('meta[name="key"]').content;

async function read(answer) {
  let content;
  try {
    content = await answer.json();
  } catch {
    throw new Error(`the program answered ${answer.status} and no more; its terminal may say why`);
  }
  if (!answer.ok) throw new Error(content.error || `the program answered ${answer.status}`);
  return content;
}

async function reach(address, how) {
  try {
    return await fetch(address, how);
  } catch {
    throw new Error("the program behind this page does not answer; was it stopped?");
  }
}

export const get = async (address) => read(await reach(address, { cache: "no-store" }));

export const post = async (address, query) =>
  read(
    await reach(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Page-Key": key },
      body: JSON.stringify(query),
    }),
  );
