import { Bookmark, BookmarkPlus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMerchant } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';
import type { PaymentFilters } from './search-body.ts';

interface SavedView {
  readonly name: string;
  readonly filters: Partial<PaymentFilters>;
}

const maxViews = 20;

function keyOf(merchantId: string): string {
  return `florin.views.${merchantId}`;
}

/** The views of this browser; an unreadable store holds none. */
function readViews(merchantId: string): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(merchantId)) ?? '[]');
    return Array.isArray(stored) ? (stored as SavedView[]) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Filters kept under a name, in this browser. */
export function SavedViews({
  filters,
  isAnySet,
  onChoose,
}: {
  readonly filters: PaymentFilters;
  readonly isAnySet: boolean;
  readonly onChoose: (filters: Partial<PaymentFilters>) => void;
}) {
  const { merchantId } = useMerchant();
  const [views, setViews] = useState(() => readViews(merchantId));
  const [isNaming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const store = (next: readonly SavedView[]) => {
    localStorage.setItem(keyOf(merchantId), JSON.stringify(next));
    setViews(next);
  };
  const save = () => {
    const given = Object.entries(filters).filter(([, value]) => value !== '');
    const others = views.filter((view) => view.name !== name.trim());
    store([...others, { name: name.trim(), filters: Object.fromEntries(given) }].slice(-maxViews));
    toast(`View “${name.trim()}” saved`);
    setNaming(false);
    setName('');
  };
  return (
    <>
      <Menu trigger={<Button icon={<Bookmark />}>Views</Button>} className="max-w-72">
        <MenuLabel>{views.length === 0 ? 'No saved views' : 'Saved views'}</MenuLabel>
        {views.map((view) => (
          <MenuItem key={view.name} onSelect={() => onChoose(view.filters)}>
            {view.name}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem icon={<BookmarkPlus />} onSelect={() => setNaming(true)} isDisabled={!isAnySet}>
          Save these filters
        </MenuItem>
        {views.map((view) => (
          <MenuItem
            key={view.name}
            icon={<Trash2 />}
            onSelect={() => store(views.filter((each) => each !== view))}
            isDangerous
          >
            Forget {view.name}
          </MenuItem>
        ))}
      </Menu>
      <Dialog isOpen={isNaming} onClose={() => setNaming(false)} title="Save these filters" size="small">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== '') save();
          }}
        >
          <TextField label="Name of the view" value={name} onChange={setName} maxLength={60} required />
          <DialogActions>
            <Button onClick={() => setNaming(false)}>Cancel</Button>
            <Button kind="primary" type="submit" disabled={name.trim() === ''}>
              Save
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  );
}
