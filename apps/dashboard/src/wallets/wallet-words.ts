import type { SettlementToken, WalletAccount, WalletChange } from './types.ts';

/** How payments reach the wallet, in short. */
export const modeTitles: Readonly<Record<WalletAccount['settlementMode'], string>> = {
  '': 'As the operator chose',
  escrow: 'After they are final',
  direct: 'Straight from the payer',
};

/** The tokens under the names of their networks, in the order of the list. */
export function byNetwork(
  tokens: readonly SettlementToken[],
): readonly { readonly network: string; readonly tokens: readonly SettlementToken[] }[] {
  const networks = [...new Set(tokens.map(({ network }) => network))];
  return networks.map((network) => ({
    network,
    tokens: tokens.filter((token) => token.network === network),
  }));
}

/** The tokens of an account, as `USDC on Base`. A token that the installation no longer has keeps its id. */
export function tokenNames(tokenIds: readonly string[], tokens: readonly SettlementToken[]): string[] {
  return tokenIds.map((tokenId) => {
    const token = tokens.find((each) => each.tokenId === tokenId);
    return token === undefined ? tokenId : `${token.symbol} on ${token.network}`;
  });
}

/**
 * Whether the wallet of an account signed that settlements may go to it. Undefined where no change tells: the operator added
 * the account, or the change is too old for the list.
 */
export function isProvenWallet(
  { accountId, accountAddress }: Pick<WalletAccount, 'accountId' | 'accountAddress'>,
  changes: readonly WalletChange[],
): boolean | undefined {
  return changes.find(
    (change) =>
      change.status === 'done' && change.accountId === accountId && change.accountAddress === accountAddress,
  )?.isProven;
}
