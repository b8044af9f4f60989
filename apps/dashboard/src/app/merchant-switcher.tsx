import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown } from 'lucide-react';
import { useContext } from 'react';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';
import { type Me, MerchantContext } from './merchant.ts';

/** The merchant in the address, and the others that the person acts for. */
export function MerchantSwitcher({ me }: { readonly me: Me }) {
  const merchant = useContext(MerchantContext);
  const navigate = useNavigate();
  const name = merchant?.merchantName ?? (me.merchants.length === 0 ? 'Florin' : 'Choose a shop');
  return (
    <Menu
      align="start"
      className="w-64"
      trigger={
        <button
          type="button"
          className="flex h-10 w-full min-w-0 items-center gap-2.5 rounded-lg px-1.5 text-left hover:bg-line/60"
        >
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-md bg-accent text-sm font-semibold text-on-accent"
          >
            {name.charAt(0).toUpperCase()}
          </span>
          <span className="sr-only">Shop:</span>
          <span className="min-w-0 flex-1 truncate font-semibold">{name}</span>
          <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-faint" />
        </button>
      }
    >
      <MenuLabel>Shops</MenuLabel>
      {me.merchants.map(({ merchantId, merchantName }) => (
        <MenuItem
          key={merchantId}
          isChosen={merchantId === merchant?.merchantId}
          onSelect={() => void navigate({ to: `/${merchantId}` })}
        >
          {merchantName}
        </MenuItem>
      ))}
      {me.merchants.length === 0 && (
        <p className="px-2.5 py-1.5 text-soft">You are not a member of any shop yet.</p>
      )}
    </Menu>
  );
}
