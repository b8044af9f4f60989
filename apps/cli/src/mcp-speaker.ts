import type { McpConversation } from './mcp-conversation.ts';

/** Leads a conversation of `florin mcp`. Loaded when it is used: its libraries are larger than the rest of the program. */
export async function speakMcp(conversation: McpConversation): Promise<void> {
  const stdio = await import('@florin/mcp/stdio');
  await stdio.speakMcp(conversation);
}
