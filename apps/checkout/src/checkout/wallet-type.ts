/** A wallet's own interface (EIP-1193). */
export interface Provider {
  request(request: {
    readonly method: string;
    readonly params?: readonly unknown[] | object;
  }): Promise<unknown>;
  on?(name: 'accountsChanged' | 'disconnect', listener: (value: unknown) => void): unknown;
}

/** A wallet that can be chosen. */
export interface Wallet {
  /** Unique among the present wallets. */
  readonly id: string;
  /** The same at each visit (EIP-6963's rdns), unlike its id; empty: it has none. */
  readonly rdns: string;
  readonly name: string;
  /** The wallet's icon as a data URL; empty when it has none. */
  readonly icon: string;
  readonly provider: Provider;
}
