import type { Readable, Writable } from 'node:stream';

/** A conversation with an assistant, as `@florin/mcp/stdio` leads it. */
export interface McpConversation {
  readonly origin: string;
  readonly apiKey: string | undefined;
  readonly payer: McpPayer | undefined;
  readonly input: Readable;
  readonly output: Writable;
  readonly onReady: () => void;
  readonly signal: AbortSignal | undefined;
}

/** An account of this machine, and its limits. */
export interface McpPayer {
  readonly privateKey: `0x${string}`;
  /** Micro-USD for each payment. */
  readonly maxAmount: bigint;
  readonly rpcUrls?: Readonly<Record<number, string>>;
  readonly policy: SpendingLimits;
}

export interface SpendingLimits {
  readonly tokens?: readonly SpendableToken[];
  readonly chains?: readonly number[];
  readonly hosts?: readonly string[];
  readonly merchants?: readonly string[];
}

interface SpendableToken {
  readonly chainId: number;
  readonly address: string;
  readonly decimals: number;
}
