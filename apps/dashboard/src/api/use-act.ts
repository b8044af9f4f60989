import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiFailure } from './failure.ts';

/**
 * An act of several requests, such as asking for a passkey and sending it: once at a time, with its failure. Every read is
 * then asked again.
 */
export function useAct<Input extends readonly unknown[]>(act: (...input: Input) => Promise<void>) {
  const queries = useQueryClient();
  const isUnderWay = useRef(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ApiFailure>();
  const run = async (...input: Input): Promise<boolean> => {
    if (isUnderWay.current) return false;
    isUnderWay.current = true;
    setRunning(true);
    setError(undefined);
    try {
      await act(...input);
      await queries.invalidateQueries();
      return true;
    } catch (failure) {
      if (!(failure instanceof ApiFailure)) throw failure;
      if (failure.slug !== 'proof_declined') setError(failure);
      return false;
    } finally {
      isUnderWay.current = false;
      setRunning(false);
    }
  };
  return { run, isRunning, error, reset: () => setError(undefined) };
}
