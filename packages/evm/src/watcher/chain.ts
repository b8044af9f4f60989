/** When a block of a chain counts as final: at or below the tagged block, and at least `depth` blocks under the head. */
export interface FinalityRule {
  readonly tag: 'finalized' | 'safe' | 'latest';
  readonly depth: number;
  /** How many nodes of different hosts must name our block at the final height; absent: 1. */
  readonly quorum?: number;
}

/** What the watcher and the sender know of a chain. An application may extend it: its handler gets its own type. */
export interface FollowedChain {
  readonly chainId: number;
  /** The first block to be read: at or before the block in which the contracts were deployed. */
  readonly startBlock: bigint;
  readonly finality: FinalityRule;
  /**
   * required: blocks must hash to their own hash, and receipts to the root in them. quorum: where they do not, as on
   * chains that encode them in their own way, `finality.quorum` nodes must answer the same. Absent: quorum.
   */
  readonly proofs?: 'required' | 'quorum';
  readonly pollIntervalMs: number;
}
