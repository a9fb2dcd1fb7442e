// Asks again and again how far the order has come. When something has changed the page is loaded, and its parts (`data-part`) take the place
// of those that are shown; so the page has one author, the server.

const PAUSE_MS = 2_000;
/** While nobody looks, or nothing more is expected. */
const LONG_PAUSE_MS = 15_000;
/** Beyond this the server is taken to be away. */
const ANSWER_MS = 10_000;

/** To be called before scripts change the page. `enrich`: adds what they add, to the page and to each part that has changed. */
export function keepUpToDate(enrich: (part: ParentNode) => void): void {
  let shown: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;

  const look = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    try {
      const known = await asked();
      if (known !== undefined && known !== shown && (await replaceParts(enrich))) shown = known;
      sayConnection(known !== undefined);
    } finally {
      isAsking = false;
      const isCalm = document.hidden || isSettled();
      timer = setTimeout(() => void look(), isCalm ? LONG_PAUSE_MS : PAUSE_MS);
    }
  };
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void look();
  });
  addEventListener('online', () => void look());
  for (const part of partsOf(document)) written.set(part, part.innerHTML);
  void look();
}

/** The state as text; undefined if the request fails. */
async function asked(): Promise<string | undefined> {
  try {
    const response = await fetch(`${location.pathname}/status`, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

function isSettled(): boolean {
  const status = document.querySelector<HTMLElement>('[data-status]')?.dataset['status'];
  return status === 'confirmed' || status === 'expired';
}

/** What the server wrote, which scripts have added to since. */
const written = new WeakMap<Element, string>();

/** Whether the page could be had. */
async function replaceParts(enrich: (part: ParentNode) => void): Promise<boolean> {
  const page = await loadedPage();
  if (page === undefined) return false;
  document.title = page.title;
  const [order, next] = [document, page].map((one) => one.querySelector<HTMLElement>('[data-status]'));
  if (order && next) order.dataset['status'] = next.dataset['status'] ?? '';
  for (const part of partsOf(document)) {
    const [changed] = partsOf(page).filter(({ dataset }) => dataset['part'] === part.dataset['part']);
    if (changed !== undefined && changed.innerHTML !== written.get(part)) replacePart(part, changed, enrich);
  }
  return true;
}

function replacePart(part: HTMLElement, next: HTMLElement, enrich: (part: ParentNode) => void): void {
  const hadFocus = part.contains(document.activeElement);
  const html = next.innerHTML;
  part.replaceChildren(...next.childNodes);
  enrich(part);
  written.set(part, html);
  if (hadFocus) document.querySelector<HTMLElement>('[data-part="status"]')?.focus();
}

function partsOf(page: Document): HTMLElement[] {
  return [...page.querySelectorAll<HTMLElement>('[data-part]')];
}

/** Read by the browser as a document that runs nothing. */
function loadedPage(): Promise<Document | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.pathname);
    request.setRequestHeader('Accept', 'text/html');
    request.responseType = 'document';
    request.timeout = ANSWER_MS;
    request.onloadend = () => {
      resolve(request.status === 200 ? (request.responseXML ?? undefined) : undefined);
    };
    request.send();
  });
}

function sayConnection(isThere: boolean): void {
  const place = document.querySelector<HTMLElement>('[data-connection]');
  const text = isThere ? '' : 'The server does not answer. This page goes on asking.';
  if (place !== null && place.textContent !== text) place.textContent = text;
}
