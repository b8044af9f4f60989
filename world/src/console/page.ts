import { type WorldAct, worldActs } from '@florin/cli/world-act';
import { type Html, html } from '@florin/server/operator';
import type { WorldManifest } from '../world-config.ts';

/** The console loads its own style and script alone, and talks to nothing else. */
export const consolePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const groups: Readonly<Record<WorldAct['group'], readonly [title: string, text: string]>> = {
  payments: [
    'Payments',
    'Pay as your customers do, rightly and wrongly. Name a session of your own, or leave it empty for a new one.',
  ],
  chains: ['Chains and nodes', 'What chains and nodes do to every payment service.'],
  tokens: ['Tokens and money', 'What issuers and an empty vault do.'],
  service: ['Time and service', 'What time, receivers and a crash do.'],
};

/** The whole console for one world. */
export const renderConsole = (manifest: WorldManifest): string =>
  page(
    'Florin: local world',
    html`${topBar(manifest)}
<main>
<h1 class="hidden">Console of the local world</h1>
<ul class="parts" id="parts" aria-label="What runs"><li class="part"><span class="dot"></span>Reading …</li></ul>
<p class="lasting" id="lasting" hidden></p>
<div class="columns">
<div class="work">
<div class="cards">${links(manifest)}${access(manifest)}</div>
${code(manifest)}
${Object.entries(groups).map(([name, [title, text]]) => actGroup(manifest, name, title, text))}
</div>
<div class="live">
<section class="card" aria-labelledby="events-title"><h2 id="events-title">Events</h2>
<ol class="feed" id="events" tabindex="0" aria-labelledby="events-title"><li class="empty">No events yet. Pay a link, or run an act.</li></ol></section>
<section class="card" aria-labelledby="requests-title"><h2 id="requests-title">Requests</h2>
<ol class="feed" id="requests" tabindex="0" aria-labelledby="requests-title"><li class="empty">No requests yet.</li></ol></section>
</div>
</div>
</main>`,
  );

/** What stands above each page of the console. */
export const topBar = (manifest: WorldManifest): Html =>
  html`<header class="top">
<p class="brand"><a href="/"><span class="coin" aria-hidden="true">ƒ</span> Florin <span class="soft">local world</span></a></p>
<nav aria-label="Pages"><a href="/mailbox">Mailbox <span class="count" id="mail-count" hidden></span></a><a href="${manifest.dashboard}">Dashboard</a><a href="${manifest.origin}/docs">Documentation</a><a href="${manifest.origin}/status">Status</a></nav>
<p class="clock"><span class="soft">World time</span> <time id="clock">…</time></p>
</header>`;

/** The page for a browser of another user of this machine. */
export const renderStranger = (): string =>
  page(
    'Florin: local world',
    html`<main class="narrow"><h1>Another user runs this world</h1>
<p>This console belongs to the user who ran <code>npm start</code>. That user finds <code>controlToken</code> in <code>.florin/world.json</code>.</p>
<form action="/" method="get"><label for="token">Token</label> <input id="token" name="token" type="password" autocomplete="off" required> <button>Open the console</button></form></main>`,
  );

export const page = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/console.css"><script src="/console.js" type="module"></script></head>
<body>${body}</body></html>`.text;

const links = ({ origin, linkIds }: WorldManifest): Html => {
  const rows = [
    ['Florin mug, 25 USD', linkIds.fixed],
    ['Pay what you like', linkIds.custom],
    ['Florin mug, settled on the other chain', linkIds.crossChain],
  ] as const;
  return html`<section class="card"><h2>Links to pay</h2>
<p class="soft">That is what your payers see. Without a wallet, choose “Demo payer” on the page.</p>
<ul class="links">${rows.map(
    ([title, linkId]) =>
      html`<li><a href="${origin}/link/${linkId}" target="_blank" rel="noreferrer">${title}</a> <code class="id">${linkId}</code></li>`,
  )}</ul></section>`;
};

const access = (manifest: WorldManifest): Html => {
  const {
    dashboard,
    dashboardLogin: login,
    payers,
    secretKey,
    restrictedKey,
    consoleKey,
    merchantApi,
    origin,
    merchantWallet,
  } = manifest;
  return html`<section class="card"><h2>Sign-in and keys</h2>
<p class="soft">Play money: every key works in this world alone. The <a href="${origin}/docs/api/products#consoleKey=${consoleKey}">API reference</a> opens with a key in its consoles.</p><dl class="keys">
${login === undefined ? html`` : html`${row('Dashboard', dashboard)}${row('E-mail', login.email)}${row('Password', login.password)}`}
${row('Merchant API', merchantApi)}${row('Secret key', secretKey)}${row('Read-only key', restrictedKey)}
${row('Payer’s key', payers[0]?.privateKey ?? '')}${row('Merchant’s wallet', merchantWallet.address)}</dl></section>`;
};

const row = (label: string, value: string): Html =>
  html`<div><dt>${label}</dt><dd><code>${value}</code>${copyButton(value, label)}</dd></div>`;

const copyButton = (value: string, label: string): Html =>
  html`<button type="button" class="copy" data-copy="${value}" aria-label="Copy: ${label}">Copy</button>`;

const code = (manifest: WorldManifest): Html => {
  const samples = [
    ['curl', curlSample(manifest)],
    ['TypeScript', typescriptSample(manifest)],
  ] as const;
  return html`<section class="card" aria-labelledby="code-title"><h2 id="code-title">Take a payment of your own</h2>
<p class="soft">Both create a checkout session. Open its <code>paymentUrl</code>, or give its id to an act below.</p>
<div class="samples">${samples.map(
    ([name, text]) => html`<figure><figcaption>${name}${copyButton(text, name)}</figcaption>
<pre tabindex="0" role="region" aria-label="${name}"><code>${text}</code></pre></figure>`,
  )}</div></section>`;
};

const curlSample = ({ merchantApi, secretKey, accountId }: WorldManifest): string =>
  `curl -s ${merchantApi}/session/checkout/create \\
  -H "Authorization: Bearer ${secretKey}" \\
  -H "Content-Type: application/json" -d '{
    "accountId": "${accountId}",
    "settlementToken": "base::usdc",
    "lineItems": [{ "itemType": "one_time", "quantity": 1,
      "unitPrice": 4500000,
      "productData": { "productName": "Flat white" } }]
  }'`;

const typescriptSample = ({ merchantApi, secretKey, accountId }: WorldManifest): string =>
  `const response = await fetch(
  "${merchantApi}/session/checkout/create",
  {
    method: "POST",
    headers: {
      authorization: "Bearer ${secretKey}",
      "content-type": "application/json",
    },
    body: JSON.stringify({
      accountId: "${accountId}",
      settlementToken: "base::usdc",
      lineItems: [{ itemType: "one_time", quantity: 1,
        unitPrice: 4_500_000, // 4.50 USD
        productData: { productName: "Flat white" } }],
    }),
  },
);
const { data } = await response.json();
console.log(data.paymentUrl);`;

const actGroup = (manifest: WorldManifest, name: string, title: string, text: string): Html =>
  html`<section class="group" aria-labelledby="group-${name}"><h2 id="group-${name}">${title}</h2><p class="soft">${text}</p>
<div class="acts">${worldActs.filter(({ group }) => group === name).map((act) => actForm(manifest, act))}</div></section>`;

const actForm = (manifest: WorldManifest, act: WorldAct): Html => {
  const lasts = act.watchUndone === undefined ? html`` : html` data-lasts="1"`;
  return html`<form class="act" data-act="${act.name}"${lasts}><div class="text"><h3>${act.name}</h3>
<p>${act.does[0]?.toUpperCase() ?? ''}${act.does.slice(1)}.</p>
<p class="watch"><strong>Watch:</strong> <span>${act.watch}</span></p></div>
<div class="inputs">${argumentInput(manifest, act)}${optionInput(manifest, act)}<button>${act.watchUndone === undefined ? 'Run' : 'Begin'}</button></div>
<output aria-live="polite"></output></form>`;
};

const argumentInput = (manifest: WorldManifest, { name, argument }: WorldAct): Html => {
  if (argument === undefined) return html``;
  const id = `${name}-argument`;
  const label = (text: string): Html => html`<label for="${id}">${text}</label>`;
  switch (argument.subject) {
    case 'session':
      return html`${label('Session')}<input id="${id}" name="argument" placeholder="new session" autocomplete="off" spellcheck="false">`;
    case 'refund':
      return html`${label('Refund')}<input id="${id}" name="argument" placeholder="the newest that waits" autocomplete="off" spellcheck="false">`;
    case 'blocks':
      return html`${label('Blocks')}<input id="${id}" name="argument" type="number" min="1" max="60" value="3">`;
    case 'minutes':
      return html`${label('Minutes')}<input id="${id}" name="argument" type="number" min="1" value="40">`;
    case 'chain':
      return html`${label('Chain')}${select(id, 'argument', chainNames(manifest), 'base')}`;
    case 'token':
      return html`${label('Token')}${select(id, 'argument', tokenIds(manifest), 'base::usdc')}`;
  }
};

const optionInput = (manifest: WorldManifest, { name, option }: WorldAct): Html => {
  if (option === undefined) return html``;
  const id = `${name}-${option}`;
  if (option === 'chain')
    return html`<label for="${id}">Chain</label>${select(id, 'chain', chainNames(manifest), 'base')}`;
  return html`<label for="${id}">Token</label>${select(id, 'token', ['', ...tokenIds(manifest)], '')}`;
};

const select = (id: string, name: string, values: readonly string[], chosen: string): Html =>
  html`<select id="${id}" name="${name}">${values.map((value) =>
    value === chosen
      ? html`<option value="${value}" selected>${value || 'first offer'}</option>`
      : html`<option value="${value}">${value}</option>`,
  )}</select>`;

const chainNames = ({ chains }: WorldManifest): string[] => chains.map(({ name }) => name);

const tokenIds = ({ chains }: WorldManifest): string[] =>
  chains.flatMap(({ tokens }) => tokens.map(({ tokenId }) => tokenId));
