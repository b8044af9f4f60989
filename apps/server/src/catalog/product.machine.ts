import type { Move } from '@florin/protocol/machine.ts';

/** A removed product keeps its row, for the sessions that sold it. */
export const productStatuses = ['active', 'archived', 'removed'] as const;
export type ProductStatus = (typeof productStatuses)[number];

/** A merchant's actions on a product. */
export const productTriggers = ['archive', 'unarchive', 'remove'] as const;
export type ProductTrigger = (typeof productTriggers)[number];

interface ProductMove extends Move<ProductStatus, ProductTrigger> {
  /** Undefined where nothing changes. */
  readonly event?: 'product.archived' | 'product.unarchived' | 'product.removed';
}

/** Every move that a product can make. A pair of status and trigger that is absent is refused. */
export const productMoves: readonly ProductMove[] = [
  { from: 'active', trigger: 'archive', to: 'archived', event: 'product.archived' },
  { from: 'archived', trigger: 'unarchive', to: 'active', event: 'product.unarchived' },
  // Repeating a change succeeds, so that a caller that lost the answer can retry.
  { from: 'archived', trigger: 'archive', to: 'archived' },
  { from: 'active', trigger: 'unarchive', to: 'active' },
  { from: 'active', trigger: 'remove', to: 'removed', event: 'product.removed' },
  { from: 'archived', trigger: 'remove', to: 'removed', event: 'product.removed' },
];
