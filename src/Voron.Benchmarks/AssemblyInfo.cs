using System.Runtime.CompilerServices;

// Every native call below passes plain numbers and pointers: no marshalling code may creep into a measured call.
[assembly: DisableRuntimeMarshalling]
