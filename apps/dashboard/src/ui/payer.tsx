import type { SessionView } from '@florin/protocol/session.ts';
import { shortAddress } from './format.ts';

/** Who paid. Of a deposit the address is where it would go back to: anyone may have sent the money. */
export function Payer({ session: { payer, payerEmail }, isDeposit }: SessionView) {
  if (payerEmail !== '') return <span className="block max-w-48 truncate">{payerEmail}</span>;
  if (payer === '') return <span className="text-faint">—</span>;
  return (
    <>
      <span title={payer} className="font-mono text-sm">
        {shortAddress(payer)}
      </span>
      {isDeposit === true && (
        <span className="block text-sm whitespace-nowrap text-soft">Refund address</span>
      )}
    </>
  );
}
