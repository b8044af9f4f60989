declare const unit: unique symbol;

/**
 * An amount in Micro-USD: 1,000,000 is one US dollar. `usd('4.50')` makes it, and what the service answers is one. A number is none,
 * because 450 may mean dollars, cents or Micro-USD.
 */
export type Usd = number & { readonly [unit]: 'Micro-USD' };
