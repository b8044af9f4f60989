import { useState } from 'react';
import { axisTop } from './chart-scale.ts';
import { classNames } from './class-names.ts';

/** Colours of series, in their order; the last one is for all that follow. */
const colours = [
  { fill: 'fill-accent', dot: 'bg-accent' },
  { fill: 'fill-info', dot: 'bg-info' },
  { fill: 'fill-warn', dot: 'bg-warn' },
  { fill: 'fill-faint', dot: 'bg-faint' },
  { fill: 'fill-line-strong', dot: 'bg-line-strong' },
] as const;
const colourOf = (index: number) => colours[Math.min(index, colours.length - 1)];

const height = 176;
/** An amount that is not zero can be seen. */
const leastHeight = 2;

interface BarChartProps {
  /** What the bars show, for screen readers. */
  readonly label: string;
  readonly bars: readonly {
    readonly key: string;
    readonly name: string;
    readonly parts: readonly bigint[];
  }[];
  /** The name of each part of a bar. */
  readonly series: readonly string[];
  /** A number as it stands at the axis. */
  readonly format: (value: bigint) => string;
  /** A number without loss, shown for the bar under the pointer or the keyboard. */
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
              <span className="font-medium whitespace-nowrap tabular-nums">
                {bar === undefined ? format(numbers[index] ?? 0n) : formatExact(numbers[index] ?? 0n)}
              </span>
            </li>
          ))}
        </ul>
      </div>
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
        className="relative rounded-sm"
      >
        <span
          aria-hidden
          className="absolute top-0 left-0 -mt-2 bg-raised pr-2 text-xs text-faint tabular-nums"
        >
          {format(top)}
        </span>
        <svg aria-hidden width="100%" height={height} className="block">
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
          {bars.map(({ key, parts }, index) => (
            <g key={key} opacity={chosen === undefined || chosen === index ? 1 : 0.45}>
              {partsOf(parts, top).map(({ y, size, place }) => (
                <rect
                  key={place}
                  x={`${index * step + step * 0.15}%`}
                  width={`${step * 0.7}%`}
                  y={y}
                  height={size}
                  className={colourOf(place)?.fill}
                />
              ))}
            </g>
          ))}
        </svg>
      </section>
      <p aria-hidden className="mt-1.5 flex justify-between text-xs text-faint">
        <span>{bars[0]?.name}</span>
        <span>{bars.at(-1)?.name}</span>
      </p>
    </div>
  );
}

/** The rectangles of one bar, from the bottom up. */
function partsOf(parts: readonly bigint[], top: bigint) {
  let y = height;
  return parts.flatMap((value, place) => {
    if (value === 0n) return [];
    const size = Math.max(leastHeight, (Number((value * 10_000n) / top) / 10_000) * height);
    y -= size;
    return [{ y, size, place }];
  });
}
