import { formatPpm } from '../ui/format.ts';

/** Fees of an installation in millionths of the amount, by how far the payer's token is from the one received. */
interface FeeRates {
  readonly sameToken: number;
  readonly sameChain: number;
  readonly crossChain: number;
}

/** What a payment costs, as `0.2 % to 0.6 %, by the token that the payer uses`; empty until it is known. */
export function feeText(
  rates: FeeRates | undefined,
  tokens: readonly { readonly chainId: string }[] = [],
): string {
  if (rates === undefined) return '';
  const chains = new Set(tokens.map(({ chainId }) => chainId)).size;
  const possible = [
    rates.sameToken,
    ...(tokens.length > chains ? [rates.sameChain] : []),
    ...(chains > 1 ? [rates.crossChain] : []),
  ];
  const [least, most] = [Math.min(...possible), Math.max(...possible)];
  if (least === most) return formatPpm(least);
  return `${formatPpm(least)} to ${formatPpm(most)}, by the token that the payer uses`;
}
