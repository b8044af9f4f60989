import { ref } from 'vue';

/** The reader's key, shared by the consoles of all pages. It is never stored: a reload forgets it. */
export const apiKey = ref('');
