import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { lastingText } from './figure.ts';
import { TroubleBadge } from './trouble-sign.tsx';

/** Older than this, a figure that is read every few seconds is no longer the present. */
const staleAfterSeconds = 45;

/** How old the figures of a read are, by the second; says when they are stale. */
export function AsOf({ source }: { readonly source: Pick<UseQueryResult, 'dataUpdatedAt' | 'error'> }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const ticking = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(ticking);
  }, []);
  const { dataUpdatedAt, error } = source;
  if (dataUpdatedAt === 0)
    return <span className="text-soft">{error === null ? 'Asking…' : 'No answer'}</span>;
  const seconds = Math.max(0, (now - dataUpdatedAt) / 1_000);
  const isStale = error !== null || seconds > staleAfterSeconds;
  return (
    <span
      className="inline-flex items-center gap-2 text-soft tabular-nums"
      data-as-of={isStale ? 'stale' : 'fresh'}
    >
      {isStale && <TroubleBadge trouble="figuresStale">Stale</TroubleBadge>}
      <span>Asked {seconds < 1 ? 'just now' : `${lastingText(seconds)} ago`}</span>
    </span>
  );
}
