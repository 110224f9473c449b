module attributes {symm.engine = "openshmem"} {
  func.func @main(%ctx: !symm.ctx) {
    return
  }
}
