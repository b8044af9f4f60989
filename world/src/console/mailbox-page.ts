import { type Html, html } from '@florin/server/operator';
import type { MailboxMail } from '../mailbox.ts';
import type { WorldManifest } from '../world-config.ts';
import { page, topBar } from './page.ts';

/** An e-mail may style itself; it loads nothing and runs no script. Its links open new tabs. */
export const mailFramePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";

/** The HTML part of an e-mail as the frame shows it. */
export const frameOfMail = ({ html: text }: MailboxMail): string =>
  text.replace('<head>', '<head><base target="_blank">');

/** The mailbox: all e-mails beside the open one. A phone shows the one or the other. */
export const renderMailbox = (
  manifest: WorldManifest,
  mails: readonly MailboxMail[],
  open: MailboxMail | undefined,
): string =>
  page(
    open === undefined ? 'Mailbox of the local world' : `${open.subject}, mailbox of the local world`,
    html`${topBar(manifest)}
<main class="mailbox${open === undefined ? '' : ' open'}">
<section class="card list" aria-labelledby="mails-title">${open === undefined ? html`<h1 id="mails-title">Mailbox</h1>` : html`<h2 id="mails-title">Mailbox</h2>`}
<p class="soft">Every e-mail of the service arrives here, and no e-mail leaves this machine. A receipt comes a few seconds after each payment with an e-mail address.</p>
<ol class="mails" id="mails" data-newest="${mails[0]?.number ?? 0}">${mails.map((mail) => mailItem(mail, open))}</ol>
${mails.length > 0 ? html`` : html`<p class="soft none">No e-mails yet. Run the act <code>pay</code>, or pay a link that asks for an e-mail address.</p>`}</section>
${open === undefined ? html`<section class="card mail empty"><p class="soft">Choose an e-mail.</p></section>` : openMail(open)}
</main>`,
  );

const mailItem = (mail: MailboxMail, open: MailboxMail | undefined): Html => {
  const { number, fromName, subject, to } = mail;
  const current = open?.number === number ? html` aria-current="page"` : html``;
  return html`<li><a href="/mailbox/${String(number)}"${current}><span class="from">${fromName}</span> ${timeOf(mail)}
<span class="subject" dir="auto">${subject}</span><span class="soft to">${to.join(', ')}</span></a></li>`;
};

const timeOf = ({ receivedAt }: MailboxMail): Html => {
  const iso = receivedAt.toISOString();
  const day = receivedAt.toLocaleDateString('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return html`<time datetime="${iso}">${day}, ${iso.slice(11, 16)} UTC</time>`;
};

const openMail = (mail: MailboxMail): Html => {
  const frame = `/mailbox/${mail.number}/html`;
  return html`<article class="card mail" id="mail" aria-labelledby="subject">
<p class="back"><a href="/mailbox">All e-mails</a></p>
<h1 id="subject" dir="auto">${mail.subject}</h1>
<dl class="mail-head"><div><dt>From</dt><dd>${mail.fromName} &lt;${mail.from}&gt;</dd></div>
<div><dt>To</dt><dd>${mail.to.join(', ')}</dd></div>
<div><dt>Received</dt><dd>${timeOf(mail)}</dd></div></dl>
<iframe title="The e-mail as HTML" src="${frame}"></iframe>
<details><summary>The e-mail as plain text</summary><pre tabindex="0" dir="auto">${mail.text}</pre></details>
<p class="soft"><a href="${frame}" target="_blank" rel="noreferrer">Open it alone</a></p>
</article>`;
};
