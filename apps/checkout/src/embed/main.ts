import { defineElement, ServiceElement, type Style, serviceOrigin } from './service-element.ts';
import type { ShopMessage } from './shop-message.ts';

/**
 * `{origin}/embed/v1.js`: <florin-button> and <florin-checkout> for the pages of shops. Both tell what became of a payment
 * by the events `detected`, `paid`, `expired`, `closed` and `error`. None of them proves a payment.
 */

/** The word of the button in each language; the bundler puts it here from the texts of the page. */
declare const PAY_WORDS: Readonly<Record<string, string>>;

const popupSize = 'popup,width=480,height=760';
const closedEveryMs = 500;
const answerMs = 3_000;

const buttonStyle: Style = `
:host { display: inline-block; }
button { font: 600 1rem/1.2 var(--florin-font, system-ui, sans-serif); min-height: 2.75rem; padding: .6rem 1.25rem; border: 0;
  border-radius: var(--florin-round, .75rem); background: var(--florin-accent, #0b6b4d); color: var(--florin-on-accent, #fff); cursor: pointer; }
button:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
button:disabled { opacity: .55; cursor: default; }`;

const frameStyle: Style = `
:host { display: block; }
iframe { display: block; width: 100%; height: 40rem; border: 0; border-radius: var(--florin-round, .75rem); }
a { color: inherit; }`;

function wordFor(element: Element): string {
  const tag = element.closest('[lang]')?.getAttribute('lang') ?? navigator.language;
  return PAY_WORDS[tag.split('-')[0] ?? ''] ?? PAY_WORDS['en'] ?? 'Pay';
}

/** The page of a payment or a link as the shop named it; undefined where it is not of this service. */
function payPageOf(text: string): URL | undefined {
  const url = URL.canParse(text, serviceOrigin) ? new URL(text, serviceOrigin) : undefined;
  const isPage = url?.origin === serviceOrigin && /^\/(checkout|link)\/\w+$/.test(url.pathname);
  return isPage ? url : undefined;
}

/** A button that begins a payment, in a window of its own or in place of the shop's page. */
class FlorinButton extends ServiceElement {
  static readonly observedAttributes = ['link', 'payment-url', 'merchant', 'disabled'];
  /** Begins a session on the shop's server, and returns its `paymentUrl`. */
  // Declared alone: a page may set it before the element comes to life.
  declare createSession?: () => Promise<string>;
  #popup: Window | null = null;
  readonly #button = document.createElement('button');
  /** What the shop writes inside the element takes its place. */
  readonly #label = document.createElement('slot');

  constructor() {
    super(buttonStyle);
    this.#button.part.add('button');
    this.#button.type = 'button';
    this.#button.append(this.#label);
    this.#button.addEventListener('click', () => void this.#pay());
    this.shadow.append(this.#button);
  }

  connectedCallback(): void {
    this.#label.textContent = wordFor(this);
  }

  attributeChangedCallback(): void {
    this.#button.disabled = this.hasAttribute('disabled');
    const page = payPageOf(this.getAttribute('payment-url') ?? '');
    const named = this.getAttribute('link') ?? this.getAttribute('merchant');
    this.dress(named ?? page?.pathname.split('/').at(-1) ?? '');
  }

  async #pay(): Promise<void> {
    if (this.#popup?.closed === false) return this.#popup.focus();
    const isPopup = this.getAttribute('mode') !== 'redirect';
    // A window may open only at the press itself, so it opens before the shop's server has answered.
    const popup = isPopup ? window.open('', '_blank', popupSize) : null;
    this.#popup = popup;
    const url = await this.#pageToPay().catch((error: unknown) => this.fail('session', String(error)));
    if (url === undefined) return popup?.close();
    // Without a window, as where the browser blocks it, the page itself goes there.
    if (popup === null) return location.assign(url);
    this.hear(popup);
    url.searchParams.set('shop', location.origin);
    popup.location.href = url.href;
    this.#watch(popup);
  }

  async #pageToPay(): Promise<URL | undefined> {
    const link = this.getAttribute('link');
    const text =
      link === null ? (this.getAttribute('payment-url') ?? (await this.createSession?.())) : `/link/${link}`;
    const url = payPageOf(text ?? '');
    const wrong =
      text === undefined ? 'createSession gave no paymentUrl' : `${text} is no page of ${serviceOrigin}`;
    return url ?? this.fail('session', wrong);
  }

  #watch(popup: Window): void {
    const timer = setInterval(() => {
      if (!popup.closed) return;
      clearInterval(timer);
      // The page of a merchant who does not list this origin separates itself from it, as if it were closed.
      if (this.isReady) this.tell('closed', this.latest);
      else this.fail('not_listed', `${location.origin} is not in the merchant's embedOrigins`);
      this.deaf();
    }, closedEveryMs);
  }
}

/** The checkout of one session inside the shop's page. */
class FlorinCheckout extends ServiceElement {
  static readonly observedAttributes = ['payment-url', 'lang'];
  #frame: HTMLIFrameElement | undefined;

  constructor() {
    super(frameStyle);
  }

  connectedCallback(): void {
    this.#show();
  }

  disconnectedCallback(): void {
    this.deaf();
    this.#frame?.remove();
    this.#frame = undefined;
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#show();
  }

  #show(): void {
    this.disconnectedCallback();
    const text = this.getAttribute('payment-url');
    if (text === null) return;
    const url = payPageOf(text);
    if (url === undefined || !url.pathname.startsWith('/checkout/')) {
      this.fail('session', `${text} is no payment of ${serviceOrigin}`);
      return;
    }
    const frame = document.createElement('iframe');
    const lang = this.closest('[lang]')?.getAttribute('lang');
    url.pathname = `/embed${url.pathname}`;
    url.search = String(
      new URLSearchParams({
        shop: location.origin,
        ...(lang === null || lang === undefined ? {} : { lang }),
      }),
    );
    frame.title = wordFor(this);
    frame.part.add('frame');
    frame.allow = 'clipboard-write';
    frame.src = url.href;
    frame.addEventListener('load', () => {
      // The page speaks before it has loaded, but its message may come later than that. A refused page never speaks.
      setTimeout(() => !this.isReady && frame === this.#frame && this.#refuse(text), answerMs);
    });
    this.#frame = frame;
    this.shadow.append(frame);
    if (frame.contentWindow !== null) this.hear(frame.contentWindow);
  }

  /** The payer can still pay, on a page of their own. */
  #refuse(paymentUrl: string): void {
    this.disconnectedCallback();
    const link = document.createElement('a');
    link.href = paymentUrl;
    link.textContent = wordFor(this);
    this.shadow.append(link);
    this.fail('not_listed', `${location.origin} is not in the merchant's embedOrigins`);
  }

  protected override take(message: ShopMessage): void {
    if (message.type === 'height' && this.#frame !== undefined)
      this.#frame.style.height = `${Math.max(0, Math.min(message.height, 10_000))}px`;
  }
}

defineElement('florin-button', FlorinButton);
defineElement('florin-checkout', FlorinCheckout);
