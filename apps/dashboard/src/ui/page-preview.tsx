import type { HostedPreview } from '@florin/protocol/hosted-preview.ts';
import { Monitor, Moon, Smartphone, Sun } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useMerchantId } from '../app/merchant.ts';
import { classNames } from './class-names.ts';

/** What the previewed page sells. Amounts are Micro-USD as digits; empty where the payer chooses. */
export type PreviewedOrder = Pick<
  HostedPreview,
  'title' | 'amount' | 'settlementToken' | 'isFeeOnTop' | 'isEmailRequired' | 'items'
>;

const widths = { phone: 390, desktop: 1_100 };
const height = 720;
/** After the last key, before the page is asked for. */
const calmMs = 300;

/**
 * The hosted page in a frame, for phones and desktops, light and dark. It follows its props after a moment and takes no
 * payment.
 * - `look`: the brand, and which of its stored images to show. Do not pass half a colour: the service refuses it.
 * - `order`: the page's contents: `title` (100 characters), `amount`, who pays the fee, and up to 20 `items`.
 */
export function PagePreview({
  look,
  order,
}: {
  readonly look: HostedPreview['look'];
  readonly order: PreviewedOrder;
}) {
  const merchantId = useMerchantId() ?? '';
  const [device, setDevice] = useState<keyof typeof widths>('phone');
  const [scheme, setScheme] = useState<HostedPreview['scheme']>('light');
  const draft: HostedPreview = { merchantId, look, scheme, ...order };
  const address = useCalm(`/dashboard/preview?draft=${encodeURIComponent(JSON.stringify(draft))}`);
  const [frame, available] = useWidth();
  const width = widths[device];
  const scale = Math.min(1, available / width);
  return (
    <figure className="overflow-hidden rounded-xl border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-3 border-b border-line bg-raised py-1.5 pr-1.5 pl-4">
        <span className="font-medium">Preview</span>
        <span className="flex gap-3">
          <Toggle
            label="Width"
            value={device}
            onChange={setDevice}
            options={[
              { value: 'phone', label: 'Phone', icon: <Smartphone /> },
              { value: 'desktop', label: 'Desktop', icon: <Monitor /> },
            ]}
          />
          <Toggle
            label="Colours"
            value={scheme}
            onChange={setScheme}
            options={[
              { value: 'light', label: 'Light', icon: <Sun /> },
              { value: 'dark', label: 'Dark', icon: <Moon /> },
            ]}
          />
        </span>
      </figcaption>
      <div ref={frame} className="overflow-hidden" style={{ height: height * scale }}>
        <iframe
          // A new frame instead of a new address: that would become a step of the browser's history.
          key={address}
          title="Preview of the hosted page"
          src={address}
          sandbox=""
          // A picture of a page: Tab leads past it, to the form's own buttons.
          tabIndex={-1}
          className="mx-auto block origin-top-left border-0"
          style={{
            width,
            height,
            transform: `scale(${scale})`,
            marginLeft: Math.max(0, (available - width * scale) / 2),
          }}
        />
      </div>
    </figure>
  );
}

/** The value once it has stood still for a moment. */
function useCalm(value: string): string {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(value), calmMs);
    return () => clearTimeout(timer);
  }, [value]);
  return calm;
}

/** The width of an element, as it changes. */
function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(widths.phone);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? widths.phone));
    if (element.current !== null) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

function Toggle<Value extends string>({
  label,
  value,
  onChange,
  options,
}: {
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly {
    readonly value: Value;
    readonly label: string;
    readonly icon: ReactNode;
  }[];
}) {
  return (
    <fieldset aria-label={label} className="flex">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-label={option.label}
          title={option.label}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={classNames(
            'grid size-8 place-items-center rounded-md [&>svg]:size-4',
            option.value === value ? 'bg-tint text-accent' : 'text-soft hover:bg-sunken',
          )}
        >
          {option.icon}
        </button>
      ))}
    </fieldset>
  );
}
