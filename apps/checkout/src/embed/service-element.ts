import type { ShopMessage, ShopNews } from './shop-message.ts';

/** The service is where this script comes from. */
export const serviceOrigin = new URL(import.meta.url).origin;

/** A style sheet as text. */
export type Style = string;

/** What an event tells. */
type Told = { readonly sessionId?: string; readonly status?: string };

/** An element that shows or opens a page of the service, and hears that page alone. */
export class ServiceElement extends HTMLElement {
  protected readonly shadow = this.attachShadow({ mode: 'open' });
  /** Whether the page has spoken: then the merchant lists this origin. */
  protected isReady = false;
  protected latest: Told = {};
  #page: Window | undefined;
  #dressed = '';
  readonly #look = document.createElement('link');
  readonly #listener = (event: MessageEvent<ShopMessage>) => this.#receive(event);

  constructor(style: Style) {
    super();
    // Not an inline style, which a shop's policy may refuse.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.shadow.adoptedStyleSheets = [sheet];
  }

  /** Gives the element the look of the merchant of a link or a session. */
  protected dress(id: string): void {
    if (id === '' || id === this.#dressed) return;
    this.#dressed = id;
    this.#look.rel = 'stylesheet';
    this.#look.href = `${serviceOrigin}/embed/look/${id}.css`;
    this.shadow.prepend(this.#look);
  }

  /** Hears the page in this window, and no other. */
  protected hear(page: Window): void {
    this.#page = page;
    this.isReady = false;
    this.latest = {};
    window.addEventListener('message', this.#listener);
  }

  protected deaf(): void {
    window.removeEventListener('message', this.#listener);
  }

  #receive({ origin, source, data }: MessageEvent<ShopMessage>): void {
    // Other pages send messages too. Only the service's own page in this window is heard.
    if (origin !== serviceOrigin || source !== this.#page || data?.florin !== 1) return;
    this.isReady = true;
    if (data.type === 'detected' || data.type === 'paid' || data.type === 'expired') {
      const { sessionId, status } = data;
      this.latest = { sessionId, status };
      this.tell(data.type, this.latest);
    }
    this.take(data);
  }

  /** What an element does with a message besides telling it. */
  protected take(_message: ShopMessage): void {}

  protected tell(type: ShopNews | 'closed', detail: Told): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** Tells the shop's developer what went wrong, also on the console. */
  protected fail(reason: 'session' | 'not_listed', message: string): undefined {
    console.error(`florin: ${message}`);
    this.dispatchEvent(new CustomEvent('error', { detail: { reason, message } }));
  }
}

/** A page may load the script twice. */
export function defineElement(name: string, element: CustomElementConstructor): void {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}
