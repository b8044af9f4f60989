/** How many attempts may be in flight to whom. */
export interface LaneSettings {
  /** To one webhook: at first, and between which bounds its behaviour moves the figure. */
  readonly perWebhook: { readonly start: number; readonly least: number; readonly most: number };
  /** To all webhooks of one owner. */
  readonly perOwner: number;
}

/** Names one webhook of one owner. */
export interface LaneRef {
  readonly webhookId: string;
  readonly ownerId: string;
}

/** What came of an attempt, as far as its lane cares. */
export interface LaneAnswer {
  readonly isSuccess: boolean;
  readonly latencyMs: number;
  /** The worker has little room left, so that a slow receiver has to leave some of it to others. */
  readonly isCrowded: boolean;
}

/** How many more attempts may begin. Webhooks and owners that are absent have nothing in flight and the room of the settings. */
export interface FreeRoom {
  readonly webhooks: ReadonlyMap<string, { readonly inFlight: number; readonly free: number }>;
  /** For all webhooks of an owner together. Only attempts in flight count against it. */
  readonly owners: ReadonlyMap<string, number>;
}

/** The room that one worker gives to each webhook. */
export interface Lanes {
  begin(ref: LaneRef): void;
  end(ref: LaneRef, answer: LaneAnswer): void;
  free(): FreeRoom;
}

interface Lane {
  readonly ownerId: string;
  inFlight: number;
  /** Not whole: it grows by parts. */
  limit: number;
  /** The quickest answer of late. */
  bestMs: number;
}

/** Answers slower than this do not earn a webhook more room. */
const briskMs = 1000;
/** Webhooks whose room is remembered beyond their attempts; past that idle ones start afresh. */
const maxLanes = 1024;
/** How fast the quickest answer is forgotten, so that one lucky answer does not stop the growth for long. */
const forgetting = 1.02;
/** A queue before a receiver, or in this process, shows as answers that take so many times the quickest. */
const queueing = 2;

/**
 * Room as TCP gives it: it halves with every failure, so that a receiver in trouble holds few of the worker's slots, and
 * one that comes back is not run over. It grows by one per round of good answers, while it is used up and answers are
 * about as quick as ever: more connections than that would only wait in a queue, at the price of a handshake each.
 */
export function makeLanes(settings: LaneSettings): Lanes {
  const { perWebhook } = settings;
  const lanes = new Map<string, Lane>();
  const laneOf = ({ webhookId, ownerId }: LaneRef): Lane => {
    const known = lanes.get(webhookId);
    if (known !== undefined) return known;
    const lane = { ownerId, inFlight: 0, limit: perWebhook.start, bestMs: briskMs };
    lanes.set(webhookId, lane);
    return lane;
  };
  return {
    begin(ref) {
      laneOf(ref).inFlight += 1;
    },
    end(ref, { isSuccess, latencyMs, isCrowded }) {
      const lane = laneOf(ref);
      const isUsedUp = lane.inFlight >= Math.floor(lane.limit);
      lane.inFlight -= 1;
      if (!isSuccess) lane.limit = Math.max(perWebhook.least, lane.limit / 2);
      else if (latencyMs >= briskMs) {
        if (isCrowded) lane.limit = Math.max(perWebhook.least, lane.limit - 1);
      } else {
        lane.bestMs = Math.max(1, Math.min(latencyMs, lane.bestMs * forgetting));
        if (isUsedUp && latencyMs <= queueing * lane.bestMs)
          lane.limit = Math.min(perWebhook.most, lane.limit + 1 / lane.limit);
      }
    },
    free() {
      forgetIdle(lanes);
      const owners = new Map<string, number>();
      for (const { ownerId, inFlight } of lanes.values()) {
        if (inFlight > 0) owners.set(ownerId, (owners.get(ownerId) ?? settings.perOwner) - inFlight);
      }
      const webhooks = new Map<string, { inFlight: number; free: number }>();
      for (const [webhookId, { limit, inFlight }] of lanes)
        webhooks.set(webhookId, { inFlight, free: Math.max(0, Math.floor(limit) - inFlight) });
      return { webhooks, owners };
    },
  };
}

function forgetIdle(lanes: Map<string, Lane>): void {
  if (lanes.size <= maxLanes) return;
  for (const [webhookId, lane] of lanes) if (lane.inFlight === 0) lanes.delete(webhookId);
}
