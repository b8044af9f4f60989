const FINAL_TAGS = new Set<unknown>(['finalized', 'safe']);
const WORD_DIGITS = 64;
/** Shorter than a block, so that the base fee of every block is the wanted one. */
const BASE_FEE_PAUSE_MS = 300;

/**
 * What the JSON-RPC address of a chain does wrong while an act of the local world lasts. The chain itself is sound, and
 * the local world's own calls do not pass here.
 */
export class ChainFaults {
  /** Every connection is closed without an answer. */
  isUnreachable = false;
  /** The amounts in receipts and logs are doubled. */
  isLying = false;
  /** The block that counts as final for as long as finality stands still. */
  heldFinalBlock: number | undefined;
  /** No blocks are mined. */
  isHalted = false;
  #feeTimer: NodeJS.Timeout | undefined;

  get isFeeHeld(): boolean {
    return this.#feeTimer !== undefined;
  }

  /** Whether reads differ from those of the node. */
  get areReadsChanged(): boolean {
    return this.isLying || this.heldFinalBlock !== undefined;
  }

  /** Repeats work that keeps the base fee up, until `releaseFee`. */
  holdFee(work: () => void): void {
    this.releaseFee();
    work();
    this.#feeTimer = setInterval(work, BASE_FEE_PAUSE_MS).unref();
  }

  releaseFee(): void {
    clearInterval(this.#feeTimer);
    this.#feeTimer = undefined;
  }

  /** Names the held block where a call asks for the final one. */
  changeParams(params: readonly unknown[]): readonly unknown[] {
    const { heldFinalBlock: held } = this;
    if (held === undefined) return params;
    return params.map((value) => (FINAL_TAGS.has(value) ? `0x${held.toString(16)}` : value));
  }

  changeAnswer(method: string, answer: unknown): unknown {
    if (!this.isLying) return answer;
    if (method === 'eth_getTransactionReceipt') return withFalseLogs(answer);
    if (method === 'eth_getBlockReceipts' && Array.isArray(answer)) return answer.map(withFalseLogs);
    return method === 'eth_getLogs' && Array.isArray(answer) ? answer.map(falseLog) : answer;
  }

  /** Ends what would go on by itself. */
  end(): void {
    this.releaseFee();
  }
}

const withFalseLogs = (receipt: unknown): unknown => {
  if (typeof receipt !== 'object' || receipt === null || !('logs' in receipt)) return receipt;
  return { ...receipt, logs: Array.isArray(receipt.logs) ? receipt.logs.map(falseLog) : receipt.logs };
};

/** The log with its first word doubled: the amount of a transfer or a payment. */
const falseLog = (log: unknown): unknown => {
  if (typeof log !== 'object' || log === null || !('data' in log) || typeof log.data !== 'string') return log;
  const word = log.data.slice(2, 2 + WORD_DIGITS);
  if (word.length < WORD_DIGITS) return log;
  const doubled = (2n * BigInt(`0x${word}`)).toString(16).padStart(WORD_DIGITS, '0').slice(-WORD_DIGITS);
  return { ...log, data: `0x${doubled}${log.data.slice(2 + WORD_DIGITS)}` };
};
