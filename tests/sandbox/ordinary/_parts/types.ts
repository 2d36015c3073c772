export interface Shape {
  readonly kind: "square" | "circle";
  readonly size: number;
}
