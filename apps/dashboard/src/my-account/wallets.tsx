import { Wallet } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/use-act.ts';
import { request, useWrite } from '../api/use-call.ts';
import type { Me } from '../app/merchant.ts';
import { hasWallet, signWithWallet } from '../proof/wallet.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { shortAddress } from '../ui/format.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { SettingRow } from '../ui/setting-row.tsx';
import { toast } from '../ui/toast.tsx';
import { Address } from '../ui/value.tsx';

/** Ethereum wallets to sign in with. They have nothing to do with where settlements go. */
export function Wallets({ me }: { readonly me: Me }) {
  const [removed, setRemoved] = useState<string>();
  const remove = useWrite('POST /me/wallet/remove', {
    onDone: () => toast('The wallet was removed, and your other sessions are ended'),
  });
  const add = useAct(async () => {
    const asked = await request(undefined, 'POST /sign-in/wallet/start', { body: { purpose: 'add_wallet' } });
    await request(undefined, 'POST /me/wallet/add', { body: await signWithWallet(asked) });
    toast('The wallet was added');
  });
  return (
    <>
      <SettingRow
        icon={<Wallet />}
        title="Ethereum wallets"
        action={
          <Button onClick={() => void add.run()} isBusy={add.isRunning} disabled={!hasWallet()}>
            Add a wallet
          </Button>
        }
      >
        {hasWallet()
          ? 'A signature of the wallet signs you in. It moves no money.'
          : 'To sign in with a wallet, open this page in a browser that has one.'}
      </SettingRow>
      {add.error !== undefined && (
        <div className="px-4 py-3 md:px-5">
          <FailureNotice error={add.error} />
        </div>
      )}
      {me.wallets.map((address) => (
        <SettingRow
          key={address}
          title={
            <span className="sm:pl-13">
              <Address address={address} />
            </span>
          }
          action={
            <Button kind="quiet" size="small" onClick={() => setRemoved(address)}>
              Remove
            </Button>
          }
        />
      ))}
      <Confirm
        isOpen={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Remove ${shortAddress(removed ?? '')}?`}
        act="Remove"
        isDangerous
        write={remove}
        onConfirm={async () => {
          const done = await remove.run({ body: { address: removed ?? '' } });
          if (done !== undefined) setRemoved(undefined);
        }}
      >
        <p>It no longer opens your account, and all your other sessions end.</p>
      </Confirm>
    </>
  );
}
