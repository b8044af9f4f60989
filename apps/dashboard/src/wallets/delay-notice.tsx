import { Notice } from '../ui/notice.tsx';
import { delayText } from './wallet-words.ts';

/** Says when a wallet or an address begins to take money. */
export function DelayNotice({
  kind,
  delaySeconds,
}: {
  readonly kind: 'add' | 'address';
  readonly delaySeconds: number | undefined;
}) {
  if (delaySeconds === undefined) return null;
  if (delaySeconds === 0)
    return (
      <Notice tone="info" title="It takes effect at once">
        This installation has no delay for new wallets and addresses. Check the address well: you cannot
        cancel it.
      </Notice>
    );
  const title = `It waits ${delayText(delaySeconds)} before it takes money`;
  return (
    <Notice tone="info" title={kind === 'add' ? `${title}, unless it is your first wallet` : title}>
      A thief who gets into an account could otherwise send your money elsewhere at once. While it waits you
      can cancel it.
    </Notice>
  );
}
