/** When a block of a chain counts as final: at or below the tagged block, and at least `depth` blocks under the head. */
export interface FinalityRule {
  readonly tag: 'finalized' | 'safe' | 'latest';
  readonly depth: number;
  /** How many nodes of different hosts must confirm our block at the final height, at least 1. */
  readonly quorum: number;
}

/** A chain as the watcher and the sender know it. An application may extend it: its handler gets its own type. */
export interface FollowedChain {
  readonly chainId: number;
  /** The first block to read: at or before the block that deployed the contracts. */
  readonly startBlock: bigint;
  readonly finality: FinalityRule;
  /**
   * required: blocks must hash to their own hash, and receipts to the root in them. quorum: where they do not, as on
   * chains with their own encoding, `finality.quorum` nodes must agree. Absent: quorum.
   */
  readonly proofs?: 'required' | 'quorum';
  readonly pollIntervalMs: number;
}
