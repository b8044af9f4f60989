import type { Move } from '@florin/protocol/machine.ts';
import type { ReportStatus } from '@florin/protocol/report-api.ts';

/** The triggers of a report. */
export const reportTriggers = ['finish', 'fail'] as const;
export type ReportTrigger = (typeof reportTriggers)[number];

/** Every move that a report can make. A pair of status and trigger that is absent is refused. */
export const reportMoves: readonly Move<ReportStatus, ReportTrigger>[] = [
  { from: 'pending', trigger: 'finish', to: 'ready' },
  { from: 'pending', trigger: 'fail', to: 'failed' },
];
