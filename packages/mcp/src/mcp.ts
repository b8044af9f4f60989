/** The MCP server and its tools. */

export { mcpServer } from './mcp-server.ts';
export { payTool } from './pay-tool.ts';
export type { CallApi, Tool } from './tool.ts';
