/** The script of the console: it shows what happens, and performs acts. The server strips its types as it serves it. */

interface LiveAnswer {
  readonly now: string;
  readonly clockOffsetSeconds: number;
  readonly parts: readonly { name: string; state: string; detail: string }[];
  readonly lasting: readonly string[];
  readonly events: readonly { id: string; type: string; subject: string; at: string }[];
  readonly requests: readonly {
    id: string;
    at: string;
    method: string;
    route: string;
    status: number;
    ms: number;
  }[];
  readonly newestMail: number;
}

interface Report {
  readonly did?: string;
  readonly facts?: Readonly<Record<string, string>>;
  readonly watch?: string;
  readonly error?: string;
}

const pauseMs = 1_000;
const copiedMs = 1_500;

type Child = Node | string;

function make(tag: string, className: string, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  element.append(...children);
  return element;
}

function find(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

function timeOf(iso: string): HTMLElement {
  const element = make('time', '', new Date(iso).toLocaleTimeString());
  element.setAttribute('datetime', iso);
  element.title = iso;
  return element;
}

/** Replaces a list's items only when they differ, so that a selection and the scroll position stay. */
function show(id: string, key: string, items: () => readonly HTMLElement[]): void {
  const list = find(id);
  if (list.dataset['key'] === key) return;
  list.dataset['key'] = key;
  list.replaceChildren(...items());
}

/** `40 min`, `5 h` or `24 d 20 h`. */
function spanOf(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** What stands above each page. */
function showTop({ now, clockOffsetSeconds, newestMail }: LiveAnswer): void {
  const ahead = clockOffsetSeconds === 0 ? '' : `, ${spanOf(clockOffsetSeconds)} ahead`;
  find('clock').textContent = new Date(now).toLocaleTimeString() + ahead;
  const count = find('mail-count');
  count.hidden = newestMail === 0;
  count.textContent = String(newestMail);
}

function showLive({ parts, lasting, events, requests }: LiveAnswer): void {
  show('parts', JSON.stringify(parts), () =>
    parts.map(({ name, state, detail }) =>
      make(
        'li',
        'part',
        make('span', `dot ${state}`),
        make('strong', '', name),
        make('span', 'soft', detail),
      ),
    ),
  );
  const banner = find('lasting');
  banner.hidden = lasting.length === 0;
  banner.textContent = `Lasts until you end it: ${lasting.join(', ')}`;
  showLasting(lasting);
  if (events.length > 0)
    show('events', events.map(({ id }) => id).join(), () =>
      events.map(({ id, type, subject, at }) => {
        const item = make('li', '', timeOf(at), make('span', 'what', type), make('code', 'id', subject));
        item.title = id;
        return item;
      }),
    );
  if (requests.length > 0)
    show('requests', requests.map(({ id }) => id).join(), () =>
      requests.map(({ id, at, method, route, status, ms }) => {
        const place = make('span', 'what', make('span', 'method', method), ` ${route}`);
        const state = make('span', status < 400 ? 'status' : 'status bad', String(status));
        const item = make(
          'li',
          '',
          timeOf(at),
          place,
          make('span', 'numbers', state, ` ${Math.round(ms)} ms`),
        );
        item.title = id;
        return item;
      }),
    );
}

/** The list of the mailbox; the page of the acts has none. */
const mails = document.getElementById('mails');

/** The server writes the list, so a new e-mail only replaces it. The open e-mail stays. */
async function showMails(list: HTMLElement, newest: number): Promise<void> {
  if (list.dataset['newest'] === String(newest)) return;
  const response = await fetch(location.pathname);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('mails');
  if (fresh === null) return;
  list.dataset['newest'] = String(newest);
  list.replaceChildren(...fresh.children);
}

const forms = [...document.querySelectorAll<HTMLFormElement>('form.act')];

function subjectOf(form: HTMLFormElement): string {
  const argument = new FormData(form).get('argument');
  return `${form.dataset['act'] ?? ''} ${typeof argument === 'string' ? argument : ''}`.trim();
}

/** An act that lasts for the chosen subject can be ended; the others can begin. */
function showLasting(lasting: readonly string[]): void {
  for (const form of forms.filter((each) => each.dataset['lasts'] === '1')) {
    const isOn = lasting.includes(subjectOf(form));
    form.classList.toggle('on', isOn);
    const button = form.querySelector('button');
    if (button !== null && !button.disabled) button.textContent = isOn ? 'End' : 'Begin';
  }
}

function factValue(value: string): Child {
  if (!/^https?:\/\/\S+$/.test(value)) return make('code', '', value);
  const link = document.createElement('a');
  link.href = value;
  link.target = '_blank';
  link.rel = 'noreferrer';
  link.textContent = value;
  return link;
}

/** Shows what an act did. What to watch for stands beside the button already, except where the act was ended. */
function showReport(output: HTMLElement, { did, facts = {}, watch = '', error }: Report): void {
  if (error !== undefined) {
    output.replaceChildren(make('p', 'bad', error));
    return;
  }
  const rows = Object.entries(facts).flatMap(([label, value]) => [
    make('dt', '', label),
    make('dd', '', factValue(value)),
  ]);
  const isShown = output.parentElement?.querySelector('.watch span')?.textContent === watch;
  output.replaceChildren(
    make('p', 'did', did ?? ''),
    make('dl', '', ...rows),
    ...(isShown ? [] : [make('p', 'watch', make('strong', '', 'Watch:'), ` ${watch}`)]),
  );
}

async function perform(form: HTMLFormElement): Promise<void> {
  const button = form.querySelector('button');
  const output = form.querySelector('output');
  if (button === null || output === null || button.disabled) return;
  const name = form.dataset['act'] ?? '';
  if (name === 'reset' && !confirm('Delete everything in this world and start anew?')) return;
  const given = [...new FormData(form)].filter(([, value]) => value !== '');
  const body = { ...Object.fromEntries(given), ...(form.classList.contains('on') ? { undo: true } : {}) };
  button.disabled = true;
  button.textContent = 'Running …';
  try {
    const response = await fetch(`/acts/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-florin-console': '1' },
      body: JSON.stringify(body),
    });
    showReport(output, (await response.json()) as Report);
  } catch {
    showReport(output, { error: 'The world did not answer. Does npm start still run?' });
  }
  button.disabled = false;
  button.textContent = 'Run';
  if (name === 'reset') await reloadOnceNew();
  await readLive();
}

/** The page has the keys of the old world. */
async function reloadOnceNew(): Promise<void> {
  await isStopped();
  for (;;) {
    await pause();
    if ((await fetch('/live').catch(() => undefined))?.ok === true) break;
  }
  location.reload();
}

async function isStopped(): Promise<void> {
  while ((await fetch('/live').catch(() => undefined))?.ok === true) await pause();
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, pauseMs);
  });
}

async function readLive(): Promise<void> {
  try {
    const response = await fetch('/live');
    if (!response.ok) return;
    const live = (await response.json()) as LiveAnswer;
    showTop(live);
    if (mails === null) showLive(live);
    else await showMails(mails, live.newestMail);
  } catch {
    if (mails !== null) return;
    show('parts', 'gone', () => [
      make(
        'li',
        'part',
        make('span', 'dot bad'),
        make('strong', '', 'The world does not answer'),
        make('span', 'soft', 'start it with npm start'),
      ),
    ]);
  }
}

async function follow(): Promise<void> {
  for (;;) {
    if (!document.hidden) await readLive();
    await pause();
  }
}

for (const form of forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void perform(form);
  });
  form.addEventListener('change', () => void readLive());
}
for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset['copy'] ?? '');
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, copiedMs);
  });
}
if (forms.length > 0 || mails !== null) void follow();
for (const time of document.querySelectorAll<HTMLTimeElement>('#mail time'))
  time.textContent = new Date(time.dateTime).toLocaleString();
