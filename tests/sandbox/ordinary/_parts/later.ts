export default (text: string): string => `later: ${text}`;
