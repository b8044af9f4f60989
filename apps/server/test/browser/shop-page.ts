import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';

/** What a page of a shop heard from an element: the event's name and its detail. */
export type Heard = readonly [name: string, detail: Readonly<Record<string, string>>];

/**
 * A shop's own page at another site (`localhost`, not `127.0.0.1`), under a strict policy of its own. Its button begins a
 * session on the shop's server, and `/page?checkout=<paymentUrl>` has the checkout inside.
 */
export class ShopPage {
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  /** `service` is the origin of the service, and `begin` makes a session and returns its paymentUrl. With `app`, that script makes the page. */
  static async open(
    service: string,
    merchantId: string,
    begin: () => Promise<string>,
    app?: string,
  ): Promise<ShopPage> {
    const policy = `default-src 'none'; script-src 'self' ${service}; style-src ${service}; frame-src ${service}; connect-src 'self' ${service}`;
    const script =
      app ??
      `
      window.heard = [];
      const hear = (element) => {
        for (const name of ['detected', 'paid', 'expired', 'closed', 'error'])
          element.addEventListener(name, ({ detail }) => window.heard.push([name, detail]));
      };
      // Whatever reaches this page at all, heard by the elements or not.
      window.messages = [];
      addEventListener('message', ({ data }) => window.messages.push(data));
      const button = document.querySelector('florin-button');
      button.createSession = async () => (await fetch('/buy', { method: 'POST' })).text();
      const paymentUrl = new URLSearchParams(location.search).get('checkout');
      const checkout = document.createElement('florin-checkout');
      for (const element of [button, checkout]) hear(element);
      if (paymentUrl !== null) {
        checkout.setAttribute('payment-url', paymentUrl);
        document.body.append(checkout);
      }`;
    const page = `<!doctype html><html lang="en"><title>Tea</title>
      <script type="module" src="${service}/embed/v1.js"></script>
      <script type="module" src="/shop.js"></script>
      ${app === undefined ? `<florin-button merchant="${merchantId}"></florin-button>` : '<body>'}`;
    const server = createServer(async ({ url = '' }, reply) => {
      if (url === '/buy') return reply.end(await begin());
      if (url === '/api/checkout') return reply.end(JSON.stringify({ paymentUrl: await begin() }));
      const isScript = url === '/shop.js';
      reply.setHeader('content-security-policy', policy);
      reply.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      return reply.end(isScript ? script : page);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the shop has no port');
    return new ShopPage(server, `http://localhost:${address.port}`);
  }

  /** Opens the page, with the checkout of a session inside it where one is named. */
  async visit(page: Page, paymentUrl?: string): Promise<void> {
    const query = paymentUrl === undefined ? '' : `?${new URLSearchParams({ checkout: paymentUrl })}`;
    await page.goto(`${this.origin}/page${query}`);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** What the page has heard since it was opened. */
export function heardBy(page: Page): Promise<Heard[]> {
  return page.evaluate('window.heard');
}

const pollMs = 100;
const polls = 1_200;

/** Waits until an expression is true in the page, whose policy forbids what Playwright's own wait does. */
export async function isTrueIn(page: Page, expression: string): Promise<void> {
  for (let count = 0; count < polls; count += 1) {
    if ((await page.evaluate(expression)) === true) return;
    await page.waitForTimeout(pollMs);
  }
  throw new Error(`never true: ${expression}`);
}

/** Waits until the page has heard an event, and returns what it told. */
export async function hears(page: Page, name: string): Promise<Heard[1]> {
  await isTrueIn(page, `window.heard.some(([heard]) => heard === '${name}')`);
  return (await heardBy(page)).find(([heard]) => heard === name)?.[1] ?? {};
}
