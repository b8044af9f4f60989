import { createContext, type RefObject } from 'react';

/** Asks before a dialog closes; true where it must stay open. Undefined while nothing would be lost. */
export type LeaveQuestion = (() => boolean) | undefined;

/** Of the dialog around a form: what the form asks before the dialog closes. */
export const LeaveContext = createContext<RefObject<LeaveQuestion> | undefined>(undefined);
