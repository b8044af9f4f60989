import type { LinkDetail } from '@florin/protocol/link.ts';
import { Ban, CirclePlay, Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { lazy, useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { loadPatiently } from '../app/lazy-screen.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useGoTo } from '../app/screen-link.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { isolated } from '../ui/isolated.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';
import { WhenOpened } from '../ui/when-opened.tsx';
import { DisableDialog } from './disable-dialog.tsx';

const LinkSheet = lazy(loadPatiently(() => import('./link-sheet.tsx')));

/** What can be done with a link, for roles that may. */
export function LinkActs({ link }: { readonly link: LinkDetail }) {
  const { role, isSuspended = false } = useMerchant();
  const goTo = useGoTo();
  const [asked, setAsked] = useState<'edit' | 'disable' | 'enable' | 'delete'>();
  const close = () => setAsked(undefined);
  const input = { body: { linkId: link.linkId } };
  const enable = useWrite('POST /payment/link/enable', {
    onDone: () => {
      toast('Link enabled');
      close();
    },
  });
  const remove = useWrite('POST /payment/link/delete', {
    onDone: () => {
      toast('Link deleted');
      goTo('links');
    },
  });
  if (!mayDo(role, 'payment_links:write')) return null;
  return (
    <>
      <Button icon={<Pencil />} onClick={() => setAsked('edit')}>
        Edit
      </Button>
      {link.status === 'active' ? (
        <Button icon={<Ban />} onClick={() => setAsked('disable')}>
          Disable
        </Button>
      ) : (
        <Button
          icon={<CirclePlay />}
          disabled={isSuspended}
          title={isSuspended ? 'Not while the operator suspends this business' : undefined}
          onClick={() => setAsked('enable')}
        >
          Enable
        </Button>
      )}
      <Menu
        trigger={
          <IconButton label="More acts">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem icon={<Trash2 />} isDangerous onSelect={() => setAsked('delete')}>
          Delete
        </MenuItem>
      </Menu>
      <WhenOpened isOpen={asked === 'edit'}>
        <LinkSheet isOpen={asked === 'edit'} link={link} onClose={close} />
      </WhenOpened>
      <DisableDialog isOpen={asked === 'disable'} link={link} onClose={close} />
      <Confirm
        isOpen={asked === 'enable'}
        onClose={close}
        title={`Enable ${isolated(link.linkName)}?`}
        act="Enable"
        write={enable}
        onConfirm={() => enable.run(input)}
      >
        <p>Its page takes payments again.</p>
      </Confirm>
      <Confirm
        isOpen={asked === 'delete'}
        onClose={close}
        title={`Delete ${isolated(link.linkName)}?`}
        act="Delete for good"
        isDangerous
        write={remove}
        onConfirm={() => remove.run(input)}
      >
        <p>
          Its page is gone for good, printed QR codes included. Its payments stay, and those under way can
          still be paid.
        </p>
      </Confirm>
    </>
  );
}
