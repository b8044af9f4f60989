import { Check, Copy } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { serviceNow } from '../api/service-clock.ts';
import { classNames } from './class-names.ts';
import {
  exactDigits,
  exactTime,
  exactUsd,
  formatCents,
  formatDate,
  formatMoment,
  formatRelative,
  formatToken,
  formatUsd,
  parseTime,
  shortAddress,
  shortId,
} from './format.ts';

/** Dollars from Micro-USD with every digit. */
export function Usd({
  micro,
  className,
}: {
  readonly micro: bigint | number | string;
  readonly className?: string;
}) {
  return <span className={classNames('whitespace-nowrap tabular-nums', className)}>{formatUsd(micro)}</span>;
}

/** Dollars and cents for figures at a glance, with the exact amount on hover. */
export function Cents({
  micro,
  isHalfUp = false,
}: {
  readonly micro: bigint | number | string;
  readonly isHalfUp?: boolean;
}) {
  return (
    <span title={exactUsd(micro)} className="whitespace-nowrap tabular-nums">
      {formatCents(micro, { isHalfUp })}
    </span>
  );
}

/** The room of digits that an amount has fewer than others of its column. */
const missingDigits = ['', 'pr-[1ch]', 'pr-[2ch]', 'pr-[3ch]', 'pr-[4ch]'];

/** Dollars for accounting. The points of a column are in line when each knows the most digits of it. */
export function ExactUsd({
  micro,
  digits = 2,
}: {
  readonly micro: bigint | number;
  readonly digits?: number | undefined;
}) {
  return (
    <span
      className={classNames('whitespace-nowrap tabular-nums', missingDigits[digits - exactDigits(micro)])}
    >
      {formatUsd(micro)}
    </span>
  );
}

/** A token's amount from its smallest units with every digit. */
export function Tokens({
  units,
  decimals,
  symbol,
  className,
}: {
  readonly units: bigint | number | string;
  readonly decimals: number;
  readonly symbol: string;
  readonly className?: string;
}) {
  return (
    <span className={classNames('whitespace-nowrap tabular-nums', className)}>
      {formatToken(units, { decimals, symbol })}
    </span>
  );
}

const clockStepMs = 30_000;
let clockListeners = new Set<() => void>();
let currentTime = serviceNow();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all relative times on the screen. */
function subscribeToClock(listener: () => void): () => void {
  clockListeners = new Set([...clockListeners, listener]);
  timer ??= setInterval(() => {
    currentTime = serviceNow();
    for (const each of clockListeners) each();
  }, clockStepMs);
  return () => {
    clockListeners = new Set([...clockListeners].filter((each) => each !== listener));
    if (clockListeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/**
 * A time relative to now, with the exact one on hover. `time` is any time of the API; empty shows `empty`. `isWhole` is for the
 * page of one thing: the day and the minute stand before it, for phones, which have no hover. `isAhead`: what is planned for
 * the time may not have happened yet.
 */
export function Time({
  time,
  empty = '—',
  isWhole = false,
  isAhead = false,
  className,
}: {
  readonly time: string | number;
  readonly empty?: string;
  readonly isWhole?: boolean;
  readonly isAhead?: boolean;
  readonly className?: string;
}) {
  // Draws again with each step; what was raised since the last step must not lie in the future.
  useSyncExternalStore(subscribeToClock, () => currentTime);
  const parsed = parseTime(time);
  if (parsed === undefined) return <span className={classNames('text-faint', className)}>{empty}</span>;
  const now = new Date(serviceNow());
  const relative = formatRelative(parsed, now, { isAhead });
  const moment = formatMoment(parsed, now);
  return (
    <time
      dateTime={parsed.toISOString()}
      title={exactTime(parsed)}
      className={classNames(!isWhole && 'whitespace-nowrap', className)}
    >
      {isWhole ? moment : relative}
      {isWhole && relative !== formatDate(parsed, now) && <span className="text-soft"> · {relative}</span>}
    </time>
  );
}

const thanksMs = 1_500;

/** Copies a text; says so for a moment. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const ending = setTimeout(() => setCopied(false), thanksMs);
    return () => clearTimeout(ending);
  }, [isCopied]);
  return (
    <button
      type="button"
      aria-label={isCopied ? 'Copied' : label}
      title={isCopied ? 'Copied' : label}
      onClick={(event) => {
        event.stopPropagation();
        void navigator.clipboard.writeText(text).then(() => setCopied(true));
      }}
      className="-my-1 inline-flex size-7 shrink-0 items-center justify-center rounded-md text-faint hover:bg-sunken hover:text-ink"
    >
      {isCopied ? <Check className="size-3.5 text-good" /> : <Copy className="size-3.5" />}
    </button>
  );
}

/** Characters of an address; hashes of transactions and orders are longer. */
const addressLength = 42;

/** An address or a hash: its two ends, the whole on hover, and a button that copies it. */
export function Address({
  address,
  href,
  isWhole = false,
}: {
  readonly address: string;
  /** The page of an explorer. */
  readonly href?: string | undefined;
  readonly isWhole?: boolean;
}) {
  if (address === '') return <span className="text-faint">—</span>;
  const text = isWhole ? address : shortAddress(address);
  const style = classNames('font-mono text-sm', isWhole ? 'text-balance break-all' : 'whitespace-nowrap');
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      {href === undefined ? (
        <span title={address} className={style}>
          {text}
        </span>
      ) : (
        <a
          href={href}
          title={address}
          target="_blank"
          rel="noreferrer"
          className={classNames(style, 'text-accent underline-offset-2 hover:underline')}
        >
          {text}
        </a>
      )}
      <CopyButton
        text={address}
        label={address.length > addressLength ? 'Copy the hash' : 'Copy the address'}
      />
    </span>
  );
}

/** An id of the API, shortened, with a button that copies it. */
export function Id({ id, isWhole = false }: { readonly id: string; readonly isWhole?: boolean }) {
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      <span
        title={id}
        className={classNames('font-mono text-sm', isWhole ? 'break-all' : 'whitespace-nowrap')}
      >
        {isWhole ? id : shortId(id)}
      </span>
      <CopyButton text={id} label="Copy the id" />
    </span>
  );
}
