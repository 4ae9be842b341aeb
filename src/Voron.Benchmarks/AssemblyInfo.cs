using System.Runtime.CompilerServices;

// Every native call passes plain numbers and pointers, so that no marshalling code runs inside a measured call.
[assembly: DisableRuntimeMarshalling]
