import { EthersWallet, WalletError, type WalletRequest } from './ethers-wallet.ts';

/** The same wallet, which misbehaves as a test teaches it: it refuses, keeps silent, answers late, or lacks a method. */
export class TestWallet extends EthersWallet {
  /** Methods that the wallet's owner refuses. */
  readonly refused = new Set<string>();
  readonly #refuseNext = new Map<string, () => void>();
  /** Methods that the wallet itself refuses, with the error code of each. */
  readonly fails = new Map<string, number>();
  /** The text of these errors, where it matters. */
  failsWith = '';
  /** Answers that the wallet makes up: it does nothing of what it is asked for. */
  readonly madeUp = new Map<string, unknown>();
  /** Answers or errors that the wallet gives instead of the right answers, after it has done what it was asked for. */
  readonly wrongAnswers = new Map<string, unknown>();
  readonly #held = new Map<string, { opened: () => void; answer: Promise<void> }>();
  readonly #heldAnswers = new Map<string, Promise<void>>();

  /** Keeps the next prompt of a method open until it is answered; `opened` resolves when the page has asked. */
  hold(method: string): { readonly opened: Promise<void>; readonly answer: () => void } {
    let answer = () => {};
    let tellOpened = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const opened = new Promise<void>((resolve) => {
      tellOpened = resolve;
    });
    this.#held.set(method, { opened: tellOpened, answer: answered });
    return { opened, answer };
  }

  /** Delays the answer to the next request of a method. The wallet executes the request at once. */
  holdAnswer(method: string): { readonly answer: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#heldAnswers.set(method, promise);
    return { answer: resolve };
  }

  /** Refuses the next request of a method; the promise resolves when the wallet has refused it. */
  refuseNext(method: string): Promise<void> {
    return new Promise((resolve) => {
      this.#refuseNext.set(method, resolve);
    });
  }

  protected override async handle(request: WalletRequest): Promise<unknown> {
    const { method } = request;
    const held = this.#held.get(method);
    this.#held.delete(method);
    held?.opened();
    await held?.answer;
    const code = this.fails.get(method);
    if (code !== undefined) throw new WalletError(code, this.failsWith || `refused with ${code}`);
    this.#refuse(method);
    if (this.madeUp.has(method)) return this.madeUp.get(method);
    const result = await super.handle(request);
    const heldAnswer = this.#heldAnswers.get(method);
    this.#heldAnswers.delete(method);
    await heldAnswer;
    const wrong = this.wrongAnswers.get(method);
    if (wrong instanceof WalletError) throw wrong;
    return this.wrongAnswers.has(method) ? wrong : result;
  }

  #refuse(method: string): void {
    const tell = this.#refuseNext.get(method);
    this.#refuseNext.delete(method);
    tell?.();
    if (tell !== undefined || this.refused.has(method))
      throw new WalletError(4001, 'User rejected the request.');
  }
}
