import type { Clock } from './context.ts';

/**
 * Parts of the deliveries, by a hash of their owner. Workers take turns in different parts at the same time. A power of two;
 * another number needs another index, and every process must have the same.
 */
const partCount = 8;

/** The part of an owner, as an SQL expression. The index of due deliveries has the same expression. */
export const partOf = (ownerId: string): string => `(hashtextextended(${ownerId}, 0) & ${partCount - 1})`;

/** Parts that a worker takes at a time while it meets others: four workers find parts that are free. */
const mostBesideOthers = 2;
/** After a worker met another one, it leaves parts to others for this long. */
const sharingMs = 5_000;

/** The parts in which a turn may be taken. */
export interface WantedParts {
  /** In this order. Those that another worker is busy with are left out. */
  readonly parts: readonly number[];
  readonly mostParts: number;
}

/** For a worker that is alone. */
export const everyPart: WantedParts = {
  parts: Array.from({ length: partCount }, (_, part) => part),
  mostParts: partCount,
};

/** Which parts a worker wants next. A round visits each part once. */
export interface PartRound {
  next(): WantedParts;
  /** What became of the last wish. */
  took(parts: readonly number[]): void;
  /** False while parts are left that are not busy. */
  isOver(): boolean;
  /** Another worker is busy with a part of this round. */
  isBusyLeft(): boolean;
}

/**
 * Lets workers share the parts without knowing of each other: a worker takes all parts that it finds free, and few at a time
 * after it found one that was not. No part belongs to a worker, so nothing has to be taken over from one that is lost.
 */
export function partRound({ monotonicMs }: Pick<Clock, 'monotonicMs'>): PartRound {
  let left: readonly number[] = [];
  let mostParts = partCount;
  let sharingUntilMs = Number.NEGATIVE_INFINITY;
  let isOver = true;
  return {
    next() {
      // Parts that were busy come first.
      if (isOver) left = [...left, ...everyPart.parts.filter((part) => !left.includes(part))];
      mostParts = monotonicMs() < sharingUntilMs ? mostBesideOthers : partCount;
      return { parts: left, mostParts };
    },
    took(parts) {
      if (parts.length < Math.min(mostParts, left.length)) sharingUntilMs = monotonicMs() + sharingMs;
      left = left.filter((part) => !parts.includes(part));
      isOver = parts.length === 0 || left.length === 0;
    },
    isOver: () => isOver,
    isBusyLeft: () => left.length > 0,
  };
}
