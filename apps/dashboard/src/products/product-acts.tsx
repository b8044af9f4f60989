import type { Product } from '@florin/protocol/product.ts';
import { Archive, ArchiveRestore, Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { isolated } from '../ui/isolated.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';

/** What can be done with a product of the list. */
export function ProductActs({ product, onEdit }: { readonly product: Product; readonly onEdit: () => void }) {
  const [asked, setAsked] = useState<'archive' | 'unarchive' | 'remove'>();
  const close = () => setAsked(undefined);
  const archive = useWrite('POST /product/archive', { onDone: () => toast('Product archived') });
  const unarchive = useWrite('POST /product/unarchive', { onDone: () => toast('Product is back') });
  const remove = useWrite('POST /product/remove', { onDone: () => toast('Product deleted') });
  const input = { body: { productId: product.productId } };
  const closeWhenDone = async (running: Promise<unknown>) => {
    if ((await running) !== undefined) close();
  };
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Acts for ${isolated(product.name)}`}>
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem icon={<Pencil />} onSelect={onEdit}>
          Edit
        </MenuItem>
        {product.status === 'active' ? (
          <MenuItem icon={<Archive />} onSelect={() => setAsked('archive')}>
            Archive
          </MenuItem>
        ) : (
          <MenuItem icon={<ArchiveRestore />} onSelect={() => setAsked('unarchive')}>
            Unarchive
          </MenuItem>
        )}
        <MenuItem icon={<Trash2 />} isDangerous onSelect={() => setAsked('remove')}>
          Delete
        </MenuItem>
      </Menu>
      <Confirm
        isOpen={asked === 'archive'}
        onClose={close}
        title={`Archive ${isolated(product.name)}?`}
        act="Archive"
        write={archive}
        onConfirm={() => closeWhenDone(archive.run(input))}
      >
        <p>Every link that sells it is disabled. Payments under way can still be paid.</p>
      </Confirm>
      <Confirm
        isOpen={asked === 'unarchive'}
        onClose={close}
        title={`Unarchive ${isolated(product.name)}?`}
        act="Unarchive"
        write={unarchive}
        onConfirm={() => closeWhenDone(unarchive.run(input))}
      >
        <p>
          New links can sell it again. Links that were disabled with it stay disabled until you enable them.
        </p>
      </Confirm>
      <Confirm
        isOpen={asked === 'remove'}
        onClose={close}
        title={`Delete ${isolated(product.name)}?`}
        act="Delete"
        isDangerous
        write={remove}
        onConfirm={() => closeWhenDone(remove.run(input))}
      >
        <p>Only a product that no link ever sold can be deleted. Archive the others.</p>
      </Confirm>
    </>
  );
}
