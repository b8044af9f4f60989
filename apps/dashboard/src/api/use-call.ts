import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { useMerchantId } from '../app/merchant.ts';
import {
  type AnyInput,
  type DashboardCall,
  type InputArguments,
  type InputOf,
  type ReadCall,
  type ReplyTo,
  send,
  type WriteCall,
} from './call.ts';
import { ApiFailure } from './failure.ts';
import { withProof } from './prover.ts';

/** One request outside React's hooks, with the dialog of a proof where the service wants one. */
export function request<C extends DashboardCall>(
  merchantId: string | undefined,
  call: C,
  ...[input]: InputArguments<C>
): Promise<ReplyTo<C>> {
  const options = call.startsWith('POST') ? { idempotencyKey: crypto.randomUUID() } : {};
  const sent = () => send(call, (input ?? {}) as AnyInput, { merchantId, ...options });
  return withProof(sent, call) as Promise<ReplyTo<C>>;
}

/** The key of a read in the cache, for `invalidateQueries`; without an input it matches every input. */
export function readKey(merchantId: string | undefined, call: ReadCall, input?: object): unknown[] {
  return [merchantId ?? '', call, ...(input === undefined ? [] : [input])];
}

export interface ReadOptions {
  /** false: do not ask yet. */
  readonly isOn?: boolean;
  /** Ask again this often while the page is in sight. */
  readonly everyMs?: number;
}

/** Reads for the merchant in the address, cached. */
export function useRead<C extends ReadCall>(
  call: C,
  input: InputOf<C>,
  { isOn = true, everyMs }: ReadOptions = {},
): UseQueryResult<ReplyTo<C>> {
  const merchantId = useMerchantId();
  return useQuery({
    queryKey: readKey(merchantId, call, input),
    queryFn: ({ signal }) => read(merchantId, call, input as AnyInput, signal) as Promise<ReplyTo<C>>,
    enabled: isOn,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

/** Several reads of one kind, each cached as by `useRead`, in the order of the inputs. */
export function useReads<C extends ReadCall>(
  call: C,
  inputs: readonly InputOf<C>[],
): readonly UseQueryResult<ReplyTo<C>>[] {
  const merchantId = useMerchantId();
  return useQueries({
    queries: inputs.map((input) => ({
      queryKey: readKey(merchantId, call, input),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        read(merchantId, call, input as AnyInput, signal) as Promise<ReplyTo<C>>,
    })),
  });
}

/**
 * Reads a list page by page; `inputOf` makes the input from the cursor of the page before, which is empty for the first,
 * and `nextOf` finds the next cursor in an answer; empty ends the list.
 */
export function usePages<C extends ReadCall>(
  call: C,
  inputOf: (after: string | undefined) => InputOf<C>,
  nextOf: (reply: ReplyTo<C>) => string,
  { isOn = true, everyMs }: ReadOptions = {},
): UseInfiniteQueryResult<InfiniteData<ReplyTo<C>>> {
  const merchantId = useMerchantId();
  return useInfiniteQuery({
    queryKey: [...readKey(merchantId, call, inputOf(undefined)), 'pages'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      read(
        merchantId,
        call,
        inputOf(pageParam === '' ? undefined : pageParam) as AnyInput,
        signal,
      ) as Promise<ReplyTo<C>>,
    getNextPageParam: (last: ReplyTo<C>) => nextOf(last) || undefined,
    enabled: isOn,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

function read(merchantId: string | undefined, call: ReadCall, input: AnyInput, signal: AbortSignal) {
  return withProof(() => send(call, input, { merchantId, signal }), call);
}

export interface Write<C extends WriteCall> {
  /** Sends; does nothing while an earlier sending is under way. Resolves to undefined when it failed. */
  readonly run: (...input: InputArguments<C>) => Promise<ReplyTo<C> | undefined>;
  readonly isRunning: boolean;
  /** The failure of the last run; undefined after the person declined to prove who they are. */
  readonly error: ApiFailure | undefined;
  readonly reset: () => void;
}

export interface WriteOptions<C extends WriteCall> {
  readonly onDone?: (reply: ReplyTo<C>) => void;
  /** The reads on the screen stay as they are; for acts after which the screen shows another thing. */
  readonly keepsReads?: boolean;
}

/**
 * A write for the merchant in the address. A double click sends once. After a lost connection the same input goes out with
 * the same idempotency key, so nothing is done twice. Every read of the merchant is then asked again.
 */
export function useWrite<C extends WriteCall>(call: C, options: WriteOptions<C> = {}): Write<C> {
  const merchantId = useMerchantId();
  const queries = useQueryClient();
  const isUnderWay = useRef(false);
  const last = useRef({ input: '', idempotencyKey: '' });
  const mutation = useMutation({
    mutationFn: (input: AnyInput) => {
      const text = JSON.stringify(input);
      if (last.current.input !== text) last.current = { input: text, idempotencyKey: crypto.randomUUID() };
      const { idempotencyKey } = last.current;
      const sent = () => send(call, input, { merchantId, idempotencyKey });
      return withProof(sent, call) as Promise<ReplyTo<C>>;
    },
    onSettled: (_reply, error) => {
      const isUnanswered = error instanceof ApiFailure && error.retryable;
      if (!isUnanswered) last.current = { input: '', idempotencyKey: '' };
    },
    onSuccess: async () => {
      if (options.keepsReads !== true) await queries.invalidateQueries();
    },
    onError: (error) => {
      // What is refused for no field of the form is refused for what it is about: the screen may be behind.
      if (error instanceof ApiFailure && error.code !== 0 && error.param === '')
        void queries.invalidateQueries();
    },
  });
  const { error } = mutation;
  return {
    run: async (...[input]) => {
      if (isUnderWay.current) return undefined;
      isUnderWay.current = true;
      try {
        const reply = await mutation.mutateAsync((input ?? {}) as AnyInput);
        options.onDone?.(reply);
        return reply;
      } catch (failure) {
        if (failure instanceof ApiFailure) return undefined;
        throw failure;
      } finally {
        isUnderWay.current = false;
      }
    },
    isRunning: mutation.isPending,
    error: error instanceof ApiFailure && error.slug !== 'proof_declined' ? error : undefined,
    reset: mutation.reset,
  };
}
