import { useState } from 'react';
import { axisTop } from './chart-scale.ts';
import { classNames } from './class-names.ts';

/** Colours of series, in their order; the last one is for all that follow. */
const colours = [
  { fill: 'fill-series-1', dot: 'bg-series-1' },
  { fill: 'fill-series-2', dot: 'bg-series-2' },
  { fill: 'fill-series-3', dot: 'bg-series-3' },
  { fill: 'fill-series-4', dot: 'bg-series-4' },
  { fill: 'fill-series-5', dot: 'bg-series-5' },
] as const;
const colourOf = (index: number) => colours[Math.min(index, colours.length - 1)];

const height = 176;
const tickHeight = 22;
/** So many names of bars stand below the chart; on a phone every other one. */
const mostTicks = 6;
/** An amount that is not zero can be seen. */
const leastHeight = 2;

interface BarChartProps {
  /** What the bars show, for screen readers. */
  readonly label: string;
  readonly bars: readonly {
    readonly key: string;
    readonly name: string;
    /** The name below the chart. */
    readonly shortName: string;
    readonly parts: readonly bigint[];
  }[];
  /** The name of each part of a bar. */
  readonly series: readonly string[];
  /** A number as it stands at the axis, and in sums of all bars. */
  readonly format: (value: bigint) => string;
  /** A number without loss, shown for the bar under the pointer or the keyboard, and for sums on hover. */
  readonly formatExact: (value: bigint) => string;
  /** What the numbers above the chart are of while no bar is chosen. */
  readonly whole: string;
}

const sum = (parts: readonly bigint[]) => parts.reduce((total, part) => total + part, 0n);

function greatest(values: readonly bigint[]): bigint {
  let most = 0n;
  for (const value of values) if (value > most) most = value;
  return most;
}

/**
 * Stacked bars, with the numbers of one bar above them: the one under the pointer, or the one chosen with the arrow keys.
 * Put a table with the same numbers beside it for people who do not see it.
 */
export function BarChart({ label, bars, series, format, formatExact, whole }: BarChartProps) {
  const [chosen, setChosen] = useState<number>();
  const top = axisTop(greatest(bars.map(({ parts }) => sum(parts))));
  const bar = chosen === undefined ? undefined : bars[chosen];
  const numbers = bar?.parts ?? series.map((_, index) => sum(bars.map(({ parts }) => parts[index] ?? 0n)));
  const step = 100 / bars.length;
  const ticksEvery = Math.ceil(bars.length / mostTicks);
  const move = (by: number) =>
    setChosen(Math.min(bars.length - 1, Math.max(0, (chosen ?? bars.length) + by)));
  return (
    <div>
      <div className="mb-4 min-h-11">
        <p className="text-soft">{bar?.name ?? whole}</p>
        <ul aria-live="polite" className="flex flex-wrap gap-x-5 gap-y-1">
          {series.map((name, index) => (
            <li key={name} className="flex items-center gap-1.5">
              <span aria-hidden className={classNames('size-2.5 rounded-sm', colourOf(index)?.dot)} />
              {name}
              <Shown value={numbers[index] ?? 0n} {...{ format: bar ? formatExact : format, formatExact }} />
            </li>
          ))}
        </ul>
      </div>
      <div className="flex gap-2.5">
        <p
          aria-hidden
          className="-mt-2 flex h-48 flex-col justify-between text-right text-xs whitespace-nowrap text-faint tabular-nums"
        >
          {[top, top / 2n, 0n].map((value, index) => (
            <span key={String(index)}>{format(value)}</span>
          ))}
        </p>
        <section
          aria-label={`${label}. The arrow keys choose a bar.`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys choose a bar
          tabIndex={0}
          onKeyDown={(event) => {
            if (event.key === 'ArrowLeft') move(-1);
            else if (event.key === 'ArrowRight') move(1);
            else if (event.key === 'Escape') setChosen(undefined);
            else return;
            event.preventDefault();
          }}
          onBlur={() => setChosen(undefined)}
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            const at = Math.floor(((clientX - left) / width) * bars.length);
            setChosen(Math.min(bars.length - 1, Math.max(0, at)));
          }}
          onPointerLeave={() => setChosen(undefined)}
          className="min-w-0 flex-1 rounded-sm"
        >
          <svg aria-hidden width="100%" height={height + tickHeight} className="block overflow-visible">
            {[0, 0.5, 1].map((part) => (
              <line
                key={part}
                x1="0"
                x2="100%"
                y1={part * (height - 1) + 0.5}
                y2={part * (height - 1) + 0.5}
                className="stroke-line"
              />
            ))}
            {bars.map(({ key, shortName, parts }, index) => {
              const fromEnd = bars.length - 1 - index;
              const isLast = fromEnd === 0;
              return (
                <g key={key} opacity={chosen === undefined || chosen === index ? 1 : 0.45}>
                  {partsOf(parts, top).map(({ y, size, place }) => (
                    <rect
                      key={place}
                      x={`${index * step + step * 0.15}%`}
                      width={`${step * 0.7}%`}
                      y={y}
                      height={size}
                      rx={Math.min(2, size / 2)}
                      className={colourOf(place)?.fill}
                    />
                  ))}
                  {fromEnd % ticksEvery === 0 && (
                    <text
                      // The last name ends with the chart, so that it stays within the card.
                      x={isLast ? '100%' : `${(index + 0.5) * step}%`}
                      y={height + tickHeight - 4}
                      textAnchor={isLast ? 'end' : 'middle'}
                      className={classNames(
                        'fill-faint text-xs',
                        (fromEnd / ticksEvery) % 2 === 1 && 'max-sm:hidden',
                      )}
                    >
                      {shortName}
                    </text>
                  )}
                </g>
              );
            })}
          </svg>
        </section>
      </div>
    </div>
  );
}

function Shown({
  value,
  format,
  formatExact,
}: { readonly value: bigint } & Pick<BarChartProps, 'format' | 'formatExact'>) {
  return (
    <span title={formatExact(value)} className="font-medium whitespace-nowrap tabular-nums">
      {format(value)}
    </span>
  );
}

/** The rectangles of one bar, from the bottom up, with a line of the ground between them. */
function partsOf(parts: readonly bigint[], top: bigint) {
  let y = height;
  return parts.flatMap((value, place) => {
    if (value === 0n) return [];
    const size = Math.max(leastHeight, (Number((value * 10_000n) / top) / 10_000) * height);
    y -= size;
    return [{ y, size: size > 2 * leastHeight ? size - 1 : size, place }];
  });
}
