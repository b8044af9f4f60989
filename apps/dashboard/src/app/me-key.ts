/** The cache's key of the person who is signed in. */
export const meKey = ['', 'GET /me'];
