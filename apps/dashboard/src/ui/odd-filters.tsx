import { Button } from './button.tsx';
import { isolated } from './isolated.ts';
import { Notice } from './notice.tsx';

/** Says what of the address the list cannot read: it would otherwise seem to be a filter. */
export function OddFilters({
  of: { odd, clearOdd },
}: {
  readonly of: {
    readonly odd: readonly { readonly name: string; readonly value: string }[];
    readonly clearOdd: () => void;
  };
}) {
  if (odd.length === 0) return null;
  return (
    <div className="mb-3">
      <Notice
        tone="warn"
        title={
          odd.length === 1
            ? 'A filter of this address does not count'
            : `${odd.length} filters of this address do not count`
        }
        action={<Button onClick={clearOdd}>Leave out</Button>}
      >
        This list cannot read{' '}
        <span className="break-all">
          {odd.map(({ name, value }) => isolated(`${name}=${value}`.slice(0, maxShown))).join(', ')}
        </span>
        . It shows what fits the rest.
      </Notice>
    </div>
  );
}

/** Characters of one filter that are shown. */
const maxShown = 60;
