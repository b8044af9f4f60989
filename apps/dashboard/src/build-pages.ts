import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '@florin/build-once';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

const workspace = join(dirname(fileURLToPath(import.meta.url)), '..');
const root = join(workspace, '../..');

/** The pages load only files of this service, and call only it; pictures may be local previews or hosted ones. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  // The preview of hosted pages.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Builds the dashboard's pages into apps/dashboard/dist unless the same content is built already. */
export function buildPages(): Promise<{ folder: string; isNew: boolean }> {
  return buildOnce({
    dist: join(workspace, 'dist'),
    root,
    sources: [
      'package-lock.json',
      'apps/dashboard/*.{html,json}',
      'apps/dashboard/public/*',
      'apps/dashboard/src/**/*.*',
      'packages/protocol/src/*.ts',
    ],
    entry: 'index.html',
    build: async (work) => {
      await build({
        configFile: false,
        logLevel: 'error',
        root: workspace,
        base: '/dashboard/',
        plugins: [react(), tailwind()],
        resolve: {
          // Radix locks the page's scrolling with a style element, which the policy refuses.
          alias: { 'react-remove-scroll': join(workspace, 'src/ui/scroll-lock.tsx') },
        },
        build: {
          outDir: join(work, 'out'),
          emptyOutDir: false,
          // An asset as a `data:` URL would be no file that can be cached.
          assetsInlineLimit: 0,
          reportCompressedSize: false,
          // A page that takes one value beside a wire schema leaves out the schema, and the library that makes schemas.
          rolldownOptions: {
            treeshake: {
              manualPureFunctions: ['Type', 'httpsUrl', 'strictObject', 'text', 'nameText'],
              moduleSideEffects: [{ test: /\/(typebox|packages\/protocol)\//, sideEffects: false }],
            },
          },
          // Browsers without it read the same files a little later.
          modulePreload: { polyfill: false },
        },
      });
    },
    policyOf: async () => policy,
  });
}
