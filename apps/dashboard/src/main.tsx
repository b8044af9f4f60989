import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api/failure.ts';
import { watchForUpdates } from './api/update.ts';
import { OutageNotice } from './app/outage-notice.tsx';
import { makeRouter } from './app/router.tsx';
import { UpdateNotice } from './app/update-notice.tsx';
import { showCutTexts } from './ui/cut-text.ts';
import { Toaster } from './ui/toast.tsx';
import './styles.css';

const maxRetries = 2;

const queries = new QueryClient({
  defaultOptions: {
    // A request without a connection fails at once and says so; it does not wait in silence.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (count, error) => count < maxRetries && error instanceof ApiFailure && error.retryable,
    },
  },
});

showCutTexts();
watchForUpdates();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Toaster>
        <OutageNotice />
        <UpdateNotice />
        <RouterProvider router={makeRouter(queries)} />
      </Toaster>
    </QueryClientProvider>
  </StrictMode>,
);
