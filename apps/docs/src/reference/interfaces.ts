import { agentApi } from '@florin/protocol/agent-api.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';

/** The interfaces that the reference describes. An installation may be without x402; its page says so. */
export const interfaces: readonly RouteTable[] = [merchantApi, agentApi, x402Api];
